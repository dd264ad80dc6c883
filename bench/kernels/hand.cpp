// The kernels by hand, in plain C++17: values and gradients as a careful programmer writes them, and a clock.
//
//   hand KERNEL SIZE RUNS SECONDS
//
// prints, for `primal` and for `gradient`, a line with the median of the times in nanoseconds and the summary of the result
// (the one of common.wg). Inputs are made as in KERNEL.wg. Each result is written into memory that is there already,
// trees and lists excepted.
//
//   c++ -std=c++17 -O3 -march=native -pthread hand.cpp -o hand

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>
#include <vector>

using std::size_t;
using Vector = std::vector<double>;

namespace {

double draw(size_t i) { return double((i * 7919 + 3) % 10007) / 10007.0; }

Vector draws(size_t first, size_t n, double low, double high) {
  Vector xs(n);
  for (size_t i = 0; i < n; i++) xs[i] = low + (high - low) * draw(first + i);
  return xs;
}

// What is measured: two functions, and what they gave.
struct Kernel {
  std::function<void()> primal, gradient;
  std::function<Vector()> value, slope;
  // The results are single numbers, not to be summarized.
  bool plain = false;
};

Vector joined(std::initializer_list<const Vector *> parts) {
  Vector all;
  for (const Vector *part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

// ---- Arrays

Kernel chain(size_t n) {
  struct State { Vector x, g; double y = 0; };
  auto s = std::make_shared<State>();
  s->x = draws(0, n, -2, 2);
  s->g.resize(n);
  Kernel k;
  k.primal = [s, n] {
    double y = 0;
    for (size_t i = 0; i < n; i++) y += std::tanh(std::log(1 + std::exp(std::sin(s->x[i]))));
    s->y = y;
  };
  k.gradient = [s, n] {
    for (size_t i = 0; i < n; i++) {
      double e = std::exp(std::sin(s->x[i])), t = std::tanh(std::log(1 + e));
      s->g[i] = (1 - t * t) * e / (1 + e) * std::cos(s->x[i]);
    }
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return s->g; };
  return k;
}

Kernel logsumexp(size_t n) {
  struct State { Vector x, y, g; };
  auto s = std::make_shared<State>();
  size_t columns = std::min<size_t>(n, 1000), rows = n / columns;
  s->x = draws(0, rows * columns, 0, 8);
  s->y.resize(rows);
  s->g.resize(rows * columns);
  Kernel k;
  k.primal = [s, rows, columns] {
    for (size_t r = 0; r < rows; r++) {
      const double *x = &s->x[r * columns];
      double most = x[0], total = 0;
      for (size_t j = 1; j < columns; j++) most = std::max(most, x[j]);
      for (size_t j = 0; j < columns; j++) total += std::exp(x[j] - most);
      s->y[r] = most + std::log(total);
    }
  };
  k.gradient = [s, rows, columns] {
    for (size_t r = 0; r < rows; r++) {
      const double *x = &s->x[r * columns];
      double *g = &s->g[r * columns];
      double most = x[0], total = 0;
      for (size_t j = 1; j < columns; j++) most = std::max(most, x[j]);
      for (size_t j = 0; j < columns; j++) total += g[j] = std::exp(x[j] - most);
      for (size_t j = 0; j < columns; j++) g[j] *= 1 / total;
    }
  };
  k.value = [s] { return s->y; };
  k.slope = [s] { return s->g; };
  return k;
}

Kernel squares(size_t n) {
  struct State { Vector x, g; double y = 0; };
  auto s = std::make_shared<State>();
  s->x = draws(0, n, -1, 1);
  s->g.resize(n);
  Kernel k;
  k.primal = [s, n] {
    double y = 0;
    for (size_t i = 0; i < n; i++) y += s->x[i] * s->x[i];
    s->y = y;
  };
  k.gradient = [s, n] {
    for (size_t i = 0; i < n; i++) s->g[i] = 2 * s->x[i];
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return s->g; };
  return k;
}

Kernel dot(size_t n) {
  struct State { Vector x, y, gx, gy; double d = 0; };
  auto s = std::make_shared<State>();
  s->x = draws(0, n, -1, 1);
  s->y = draws(5, n, -1, 1);
  s->gx.resize(n);
  s->gy.resize(n);
  Kernel k;
  k.primal = [s, n] {
    double d = 0;
    for (size_t i = 0; i < n; i++) d += s->x[i] * s->y[i];
    s->d = d;
  };
  k.gradient = [s] {
    std::copy(s->y.begin(), s->y.end(), s->gx.begin());
    std::copy(s->x.begin(), s->x.end(), s->gy.begin());
  };
  k.value = [s] { return Vector{s->d}; };
  k.slope = [s] { return joined({&s->gx, &s->gy}); };
  return k;
}

Kernel saxpy(size_t n) {
  struct State { Vector x, y, z, c, gx, gy; double a = 0.5, ga = 0; };
  auto s = std::make_shared<State>();
  s->x = draws(0, n, -1, 1);
  s->y = draws(5, n, -1, 1);
  s->c = draws(9, n, -1, 1);
  s->z.resize(n);
  s->gx.resize(n);
  s->gy.resize(n);
  Kernel k;
  k.primal = [s, n] {
    for (size_t i = 0; i < n; i++) s->z[i] = s->a * s->x[i] + s->y[i];
  };
  k.gradient = [s, n] {
    double ga = 0;
    for (size_t i = 0; i < n; i++) {
      ga += s->x[i] * s->c[i];
      s->gx[i] = s->a * s->c[i];
      s->gy[i] = s->c[i];
    }
    s->ga = ga;
  };
  k.value = [s] { return s->z; };
  k.slope = [s] {
    Vector ga{s->ga};
    return joined({&ga, &s->gx, &s->gy});
  };
  return k;
}

// c += a b, in blocks that stay in the cache and the innermost loop along rows.
void add_product(const Vector &a, const Vector &b, Vector &c, size_t n) {
  const size_t block = 64;
  for (size_t kk = 0; kk < n; kk += block)
    for (size_t i = 0; i < n; i++)
      for (size_t k = kk; k < std::min(n, kk + block); k++) {
        double f = a[i * n + k];
        for (size_t j = 0; j < n; j++) c[i * n + j] += f * b[k * n + j];
      }
}

Kernel matmul(size_t n) {
  struct State { Vector a, b, c, w, t, ga, gb; };
  auto s = std::make_shared<State>();
  s->a = draws(0, n * n, -0.5, 0.5);
  s->b = draws(5, n * n, -0.5, 0.5);
  s->w = draws(9, n * n, -0.5, 0.5);
  for (Vector *v : {&s->c, &s->t, &s->ga, &s->gb}) v->resize(n * n);
  auto transpose = [s, n](const Vector &m) {
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) s->t[j * n + i] = m[i * n + j];
  };
  Kernel k;
  k.primal = [s, n] {
    std::fill(s->c.begin(), s->c.end(), 0.0);
    add_product(s->a, s->b, s->c, n);
  };
  k.gradient = [s, n, transpose] {
    std::fill(s->ga.begin(), s->ga.end(), 0.0);
    std::fill(s->gb.begin(), s->gb.end(), 0.0);
    transpose(s->b);
    add_product(s->w, s->t, s->ga, n);
    transpose(s->a);
    add_product(s->t, s->w, s->gb, n);
  };
  k.value = [s] { return s->c; };
  k.slope = [s] { return joined({&s->ga, &s->gb}); };
  return k;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Kernel lstm(size_t n) {
  static const size_t steps = 32;
  struct State {
    Vector w[4], b[4], gw[4], gb[4], input[steps];
    // What the way back needs: gates, and the states before each step.
    Vector gate[4][steps], squashed[steps], hidden[steps + 1], memory[steps + 1], dh, dm;
    double y = 0;
  };
  auto s = std::make_shared<State>();
  for (size_t g = 0; g < 4; g++) {
    s->w[g] = draws(2 * g * n, n, -1, 1);
    s->b[g] = draws((2 * g + 1) * n, n, -1, 1);
    s->gw[g].resize(n);
    s->gb[g].resize(n);
    for (size_t t = 0; t < steps; t++) s->gate[g][t].resize(n);
  }
  for (size_t t = 0; t <= steps; t++) {
    s->hidden[t].assign(n, 0);
    s->memory[t].assign(n, 0);
  }
  for (size_t t = 0; t < steps; t++) {
    s->input[t] = draws(100 + t * n, n, -1, 1);
    s->squashed[t].resize(n);
  }
  s->dh.resize(n);
  s->dm.resize(n);
  Kernel k;
  // The gates are 0: forget, 1: admit, 2: expose, 3: change.
  k.primal = [s, n] {
    Vector &h = s->hidden[0], &m = s->memory[0];
    std::fill(h.begin(), h.end(), 0.0);
    std::fill(m.begin(), m.end(), 0.0);
    for (size_t t = 0; t < steps; t++) {
      const Vector &x = s->input[t];
      for (size_t i = 0; i < n; i++) {
        double f = sigmoid(s->w[0][i] * x[i] + s->b[0][i]), a = sigmoid(s->w[1][i] * h[i] + s->b[1][i]);
        double e = sigmoid(s->w[2][i] * x[i] + s->b[2][i]), c = std::tanh(s->w[3][i] * h[i] + s->b[3][i]);
        m[i] = f * m[i] + a * c;
        h[i] = e * std::tanh(m[i]);
      }
    }
    double y = 0;
    for (size_t i = 0; i < n; i++) y += h[i] * m[i];
    s->y = y;
  };
  k.gradient = [s, n] {
    std::fill(s->hidden[0].begin(), s->hidden[0].end(), 0.0);
    std::fill(s->memory[0].begin(), s->memory[0].end(), 0.0);
    for (size_t t = 0; t < steps; t++) {
      const Vector &x = s->input[t], &h = s->hidden[t], &m = s->memory[t];
      for (size_t i = 0; i < n; i++) {
        double f = sigmoid(s->w[0][i] * x[i] + s->b[0][i]), a = sigmoid(s->w[1][i] * h[i] + s->b[1][i]);
        double e = sigmoid(s->w[2][i] * x[i] + s->b[2][i]), c = std::tanh(s->w[3][i] * h[i] + s->b[3][i]);
        double next = f * m[i] + a * c, squashed = std::tanh(next);
        s->gate[0][t][i] = f;
        s->gate[1][t][i] = a;
        s->gate[2][t][i] = e;
        s->gate[3][t][i] = c;
        s->squashed[t][i] = squashed;
        s->memory[t + 1][i] = next;
        s->hidden[t + 1][i] = e * squashed;
      }
    }
    for (size_t g = 0; g < 4; g++) {
      std::fill(s->gw[g].begin(), s->gw[g].end(), 0.0);
      std::fill(s->gb[g].begin(), s->gb[g].end(), 0.0);
    }
    s->dh = s->memory[steps];
    s->dm = s->hidden[steps];
    for (size_t t = steps; t-- > 0;) {
      const Vector &x = s->input[t], &h = s->hidden[t], &m = s->memory[t];
      for (size_t i = 0; i < n; i++) {
        double f = s->gate[0][t][i], a = s->gate[1][t][i], e = s->gate[2][t][i], c = s->gate[3][t][i];
        double q = s->squashed[t][i], dm = s->dm[i] + s->dh[i] * e * (1 - q * q);
        double df = dm * m[i] * f * (1 - f), da = dm * c * a * (1 - a);
        double de = s->dh[i] * q * e * (1 - e), dc = dm * a * (1 - c * c);
        s->gw[0][i] += df * x[i];
        s->gb[0][i] += df;
        s->gw[1][i] += da * h[i];
        s->gb[1][i] += da;
        s->gw[2][i] += de * x[i];
        s->gb[2][i] += de;
        s->gw[3][i] += dc * h[i];
        s->gb[3][i] += dc;
        s->dh[i] = da * s->w[1][i] + dc * s->w[3][i];
        s->dm[i] = dm * f;
      }
    }
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] {
    return joined({&s->gw[0], &s->gb[0], &s->gw[1], &s->gb[1], &s->gw[2], &s->gb[2], &s->gw[3], &s->gb[3]});
  };
  return k;
}

// ---- Many small gradients

// rotation 3, center 3, focus, bend 2, point 3; then where it was seen.
struct Observation { double p[12], seen[2]; };

// The squared error; its gradient too, if there is room for it.
template <bool with_gradient> double reprojection_error(const Observation &o, double *g) {
  const double *r = o.p, *c = o.p + 3, *point = o.p + 9;
  double f = o.p[6], k1 = o.p[7], k2 = o.p[8];
  double x[3] = {point[0] - c[0], point[1] - c[1], point[2] - c[2]};
  double angle = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  double co = std::cos(angle), si = std::sin(angle);
  double u[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
  double ux = u[0] * x[0] + u[1] * x[1] + u[2] * x[2];
  double v[3] = {u[1] * x[2] - u[2] * x[1], u[2] * x[0] - u[0] * x[2], u[0] * x[1] - u[1] * x[0]};
  double y[3];
  for (int i = 0; i < 3; i++) y[i] = co * x[i] + si * v[i] + ux * (1 - co) * u[i];
  double a = y[0] / y[2], b = y[1] / y[2], q = a * a + b * b, l = 1 + k1 * q + k2 * q * q;
  double e0 = f * l * a - o.seen[0], e1 = f * l * b - o.seen[1];
  if (!with_gradient) return e0 * e0 + e1 * e1;
  double d0 = 2 * e0, d1 = 2 * e1, along = d0 * a + d1 * b;
  g[6] = along * l;
  double dl = along * f;
  g[7] = dl * q;
  g[8] = dl * q * q;
  double dq = dl * (k1 + 2 * k2 * q);
  double da = d0 * f * l + 2 * a * dq, db = d1 * f * l + 2 * b * dq;
  double dy[3] = {da / y[2], db / y[2], -(da * a + db * b) / y[2]};
  double dy_x = dy[0] * x[0] + dy[1] * x[1] + dy[2] * x[2];
  double dy_v = dy[0] * v[0] + dy[1] * v[1] + dy[2] * v[2];
  double dy_u = dy[0] * u[0] + dy[1] * u[1] + dy[2] * u[2];
  double dangle = -si * dy_x + co * dy_v + ux * si * dy_u;
  double dux = (1 - co) * dy_u;
  // dv = si dy, and v = u × x.
  double dv[3] = {si * dy[0], si * dy[1], si * dy[2]};
  double du[3] = {x[1] * dv[2] - x[2] * dv[1], x[2] * dv[0] - x[0] * dv[2], x[0] * dv[1] - x[1] * dv[0]};
  double dx[3] = {dv[1] * u[2] - dv[2] * u[1], dv[2] * u[0] - dv[0] * u[2], dv[0] * u[1] - dv[1] * u[0]};
  double inward = 0;
  for (int i = 0; i < 3; i++) {
    du[i] += ux * (1 - co) * dy[i] + dux * x[i];
    dx[i] += co * dy[i] + dux * u[i];
    inward += du[i] * u[i];
  }
  for (int i = 0; i < 3; i++) {
    g[i] = (du[i] - inward * u[i]) / angle + dangle * u[i];
    g[3 + i] = -dx[i];
    g[9 + i] = dx[i];
  }
  return e0 * e0 + e1 * e1;
}

Kernel reprojection(size_t n) {
  struct State { std::vector<Observation> o; Vector y, g; };
  auto s = std::make_shared<State>();
  s->o.resize(n);
  s->y.resize(n);
  s->g.resize(12 * n);
  for (size_t i = 0; i < n; i++) {
    auto d = [i](size_t k) { return draw(14 * i + k); };
    s->o[i] = {{0.1 + d(0), d(1), d(2), d(3), d(4), d(5), 1 + d(6), 0.1 * d(7), 0.01 * d(8), 4 + d(9), 4 + d(10), 9 + d(11)},
               {d(12), d(13)}};
  }
  Kernel k;
  k.primal = [s, n] {
    for (size_t i = 0; i < n; i++) s->y[i] = reprojection_error<false>(s->o[i], nullptr);
  };
  k.gradient = [s, n] {
    for (size_t i = 0; i < n; i++) reprojection_error<true>(s->o[i], &s->g[12 * i]);
  };
  k.value = [s] { return s->y; };
  // An array of tuples is shown element by element: in the order of common.wg's `ravel`.
  k.slope = [s] { return s->g; };
  return k;
}

// ---- Loops over numbers

Kernel branch(size_t n) {
  struct State { Vector x; double y = 0, g = 0, a = 0.3; };
  auto s = std::make_shared<State>();
  s->x.resize(n);
  Kernel k;
  k.plain = true;
  k.primal = [s, n] {
    double x = 0.7, a = s->a;
    for (size_t i = 0; i < n; i++) x = x > 1 ? x * 0.5 - a * a : x + a * x * x + a;
    s->y = x;
  };
  k.gradient = [s, n] {
    double x = 0.7, a = s->a;
    for (size_t i = 0; i < n; i++) {
      s->x[i] = x;
      x = x > 1 ? x * 0.5 - a * a : x + a * x * x + a;
    }
    double dx = 1, da = 0;
    for (size_t i = n; i-- > 0;) {
      double x = s->x[i];
      if (x > 1) {
        da -= 2 * a * dx;
        dx *= 0.5;
      } else {
        da += (x * x + 1) * dx;
        dx *= 1 + 2 * a * x;
      }
    }
    s->g = da;
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return Vector{s->g}; };
  return k;
}

Kernel newton(size_t n) {
  struct State { Vector a, g, tape; double y = 0; };
  auto s = std::make_shared<State>();
  s->a = draws(0, n, 1, 100);
  s->g.resize(n);
  Kernel k;
  k.primal = [s, n] {
    double total = 0;
    for (size_t i = 0; i < n; i++) {
      double a = s->a[i], before = a, x = a - (a * a * a - a) / (3 * a * a);
      while (std::abs(x - before) > 1e-14 * x) {
        before = x;
        x = x - (x * x * x - a) / (3 * x * x);
      }
      total += x;
    }
    s->y = total;
  };
  k.gradient = [s, n] {
    for (size_t i = 0; i < n; i++) {
      double a = s->a[i], before = a, x = a - (a * a * a - a) / (3 * a * a);
      s->tape.clear();
      s->tape.push_back(before);
      while (std::abs(x - before) > 1e-14 * x) {
        before = x;
        s->tape.push_back(before);
        x = x - (x * x * x - a) / (3 * x * x);
      }
      double dx = 1, da = 0;
      for (size_t j = s->tape.size(); j-- > 0;) {
        double x = s->tape[j], square = x * x;
        da += dx / (3 * square);
        dx *= 1 - 1 + 2 * (x * square - a) / (3 * x * square);
      }
      s->g[i] = da + dx;
    }
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return s->g; };
  return k;
}

// ---- Recursion and data

double value(size_t n, double x) { return n == 0 ? x : std::sin(value(n - 1, x)) + 0.1 * x; }

// The value; the values inside go to the tape.
double recorded(size_t n, double x, double *tape) {
  if (n == 0) return x;
  double inner = recorded(n - 1, x, tape);
  tape[n - 1] = inner;
  return std::sin(inner) + 0.1 * x;
}

double backward(size_t n, double dy, const double *tape) {
  return n == 0 ? dy : 0.1 * dy + backward(n - 1, dy * std::cos(tape[n - 1]), tape);
}

Kernel recursion(size_t n) {
  struct State { Vector tape; double y = 0, g = 0, x = 0.7; };
  auto s = std::make_shared<State>();
  s->tape.resize(n);
  Kernel k;
  k.plain = true;
  k.primal = [s, n] { s->y = value(n, s->x); };
  k.gradient = [s, n] {
    recorded(n, s->x, s->tape.data());
    s->g = backward(n, 1, s->tape.data());
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return Vector{s->g}; };
  return k;
}

struct Tree {
  double x = 0;
  std::unique_ptr<Tree> left, right;
};
using TreePointer = std::unique_ptr<Tree>;

TreePointer grow(size_t i, size_t n) {
  auto tree = std::make_unique<Tree>();
  if (n <= 1) {
    tree->x = draw(i);
  } else {
    tree->left = grow(i, n / 2);
    tree->right = grow(i + n / 2, n - n / 2);
  }
  return tree;
}

double total(const Tree &tree) {
  return tree.left ? total(*tree.left) + 0.5 * total(*tree.right) : tree.x * tree.x;
}

TreePointer slopes(const Tree &tree, double dy) {
  auto slope = std::make_unique<Tree>();
  if (tree.left) {
    slope->left = slopes(*tree.left, dy);
    slope->right = slopes(*tree.right, 0.5 * dy);
  } else {
    slope->x = 2 * tree.x * dy;
  }
  return slope;
}

void leaves(const Tree &tree, Vector &out) {
  if (tree.left) {
    leaves(*tree.left, out);
    leaves(*tree.right, out);
  } else {
    out.push_back(tree.x);
  }
}

Kernel tree(size_t n) {
  struct State { TreePointer tree, slope; double y = 0; };
  auto s = std::make_shared<State>();
  s->tree = grow(0, n);
  Kernel k;
  k.primal = [s] { s->y = total(*s->tree); };
  k.gradient = [s] { s->slope = slopes(*s->tree, 1); };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] {
    Vector out;
    leaves(*s->slope, out);
    return out;
  };
  return k;
}

struct Cell {
  double x;
  Cell *next;
};

void release(Cell *&list) {
  while (list) {
    Cell *next = list->next;
    delete list;
    list = next;
  }
}

Kernel list(size_t n) {
  struct State {
    Cell *list = nullptr, *slope = nullptr;
    Vector tape;
    std::vector<const Cell *> cells;
    double y = 0;
    ~State() {
      release(list);
      release(slope);
    }
  };
  auto s = std::make_shared<State>();
  for (size_t i = n; i-- > 0;) s->list = new Cell{draw(i), s->list};
  Kernel k;
  k.primal = [s] {
    double total = 0;
    for (const Cell *cell = s->list; cell; cell = cell->next) total = 0.5 * total + cell->x * total * cell->x + cell->x;
    s->y = total;
  };
  k.gradient = [s] {
    s->tape.clear();
    s->cells.clear();
    double total = 0;
    for (const Cell *cell = s->list; cell; cell = cell->next) {
      s->tape.push_back(total);
      s->cells.push_back(cell);
      total = 0.5 * total + cell->x * total * cell->x + cell->x;
    }
    release(s->slope);
    double d = 1;
    for (size_t i = s->cells.size(); i-- > 0;) {
      double x = s->cells[i]->x;
      s->slope = new Cell{d * (2 * x * s->tape[i] + 1), s->slope};
      d *= 0.5 + x * x;
    }
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] {
    Vector out;
    for (const Cell *cell = s->slope; cell; cell = cell->next) out.push_back(cell->x);
    return out;
  };
  return k;
}

// ---- Functions as values

Kernel closures(size_t n) {
  struct State { Vector a, g, tape; double y = 0; };
  auto s = std::make_shared<State>();
  s->a = draws(0, n, 0.5, 1);
  s->g.resize(n);
  s->tape.resize(n);
  Kernel k;
  k.primal = [s, n] {
    std::vector<std::function<double(double)>> layers;
    layers.reserve(n);
    for (size_t i = 0; i < n; i++) {
      double a = s->a[i];
      if (i % 3 == 0)
        layers.push_back([a](double x) { return a * x + 0.1; });
      else if (i % 3 == 1)
        layers.push_back([a](double x) { return x - a * x * x; });
      else
        layers.push_back([a](double x) { return x / (1 + a * a); });
    }
    double x = 0.5;
    for (auto &layer : layers) x = layer(x);
    s->y = x;
  };
  // By hand there are no functions left in it.
  k.gradient = [s, n] {
    double x = 0.5;
    for (size_t i = 0; i < n; i++) {
      double a = s->a[i];
      s->tape[i] = x;
      x = i % 3 == 0 ? a * x + 0.1 : i % 3 == 1 ? x - a * x * x : x / (1 + a * a);
    }
    double d = 1;
    for (size_t i = n; i-- > 0;) {
      double a = s->a[i], x = s->tape[i];
      if (i % 3 == 0) {
        s->g[i] = d * x;
        d *= a;
      } else if (i % 3 == 1) {
        s->g[i] = -d * x * x;
        d *= 1 - 2 * a * x;
      } else {
        double r = 1 / (1 + a * a);
        s->g[i] = -d * x * r * r * 2 * a;
        d *= r;
      }
    }
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return s->g; };
  return k;
}

// ---- Second order

Kernel hvp(size_t n) {
  struct State { Vector x, v, h; double y = 0; };
  auto s = std::make_shared<State>();
  s->x = draws(0, n, -1, 1);
  s->v = draws(5, n, -1, 1);
  s->h.resize(n);
  Kernel k;
  k.primal = [s, n] {
    double y = 0;
    for (size_t i = 0; i + 1 < n; i++) {
      double a = s->x[i + 1] - s->x[i] * s->x[i], b = 1 - s->x[i];
      y += 100 * a * a + b * b;
    }
    s->y = y;
  };
  k.gradient = [s, n] {
    s->h[0] = 0;
    for (size_t i = 0; i + 1 < n; i++) {
      double x = s->x[i], v = s->v[i], w = s->v[i + 1], a = s->x[i + 1] - x * x;
      s->h[i] += (800 * x * x - 400 * a + 2) * v - 400 * x * w;
      s->h[i + 1] = 200 * w - 400 * x * v;
    }
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return s->h; };
  return k;
}

Kernel net(size_t n) {
  struct Net { Vector w, b, o; };
  struct State { Net p, v, h; Vector x, t, dt; double y = 0; };
  auto s = std::make_shared<State>();
  auto make = [n](size_t first) {
    Net net;
    net.w = draws(first, n * n, -0.2, 0.2);
    net.b = draws(first + 1, n, -1, 1);
    net.o = draws(first + 2, n, -1, 1);
    return net;
  };
  s->p = make(0);
  s->v = make(50);
  s->h = make(0);
  s->x = draws(7, n, -1, 1);
  s->t.resize(n);
  s->dt.resize(n);
  Kernel k;
  k.primal = [s, n] {
    double y = -1;
    for (size_t i = 0; i < n; i++) {
      double z = s->p.b[i];
      for (size_t j = 0; j < n; j++) z += s->p.w[i * n + j] * s->x[j];
      y += s->p.o[i] * std::tanh(z);
    }
    s->y = y * y;
  };
  k.gradient = [s, n] {
    double y = -1, dy = 0;
    for (size_t i = 0; i < n; i++) {
      double z = s->p.b[i], dz = s->v.b[i];
      for (size_t j = 0; j < n; j++) {
        z += s->p.w[i * n + j] * s->x[j];
        dz += s->v.w[i * n + j] * s->x[j];
      }
      double t = std::tanh(z);
      s->t[i] = t;
      s->dt[i] = (1 - t * t) * dz;
      y += s->p.o[i] * t;
      dy += s->v.o[i] * t + s->p.o[i] * s->dt[i];
    }
    // The cotangent of y is 2 y, of z it is 2 y o (1 - t²); both with their tangents.
    for (size_t i = 0; i < n; i++) {
      double t = s->t[i], dt = s->dt[i], o = s->p.o[i], r = 1 - t * t;
      double h = 2 * (dy * o * r + y * s->v.o[i] * r - 2 * y * o * t * dt);
      s->h.o[i] = 2 * (dy * t + y * dt);
      s->h.b[i] = h;
      for (size_t j = 0; j < n; j++) s->h.w[i * n + j] = h * s->x[j];
    }
  };
  k.value = [s] { return Vector{s->y}; };
  k.slope = [s] { return joined({&s->h.w, &s->h.b, &s->h.o}); };
  return k;
}

// ---- All pairs

Kernel nbody(size_t n) {
  struct State { Vector p[3], v[3], gp[3], gv[3]; double y = 0; };
  auto s = std::make_shared<State>();
  for (size_t c = 0; c < 3; c++) {
    for (size_t i = 0; i < n; i++) {
      s->p[c].push_back(draw(3 * i + c));
      s->v[c].push_back(draw(4 + 3 * i + c));
    }
    s->gp[c].resize(n);
    s->gv[c].resize(n);
  }
  Kernel k;
  // The velocities after the step go to gv: they are the gradient with respect to those before.
  auto advance = [s, n] {
    double energy = 0;
    const double *px = s->p[0].data(), *py = s->p[1].data(), *pz = s->p[2].data();
    for (size_t i = 0; i < n; i++) {
      double a[3] = {0, 0, 0};
      for (size_t j = 0; j < n; j++) {
        double dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
        double squared = dx * dx + dy * dy + dz * dz + 0.01, strength = 1 / (squared * std::sqrt(squared));
        a[0] += strength * dx;
        a[1] += strength * dy;
        a[2] += strength * dz;
      }
      for (size_t c = 0; c < 3; c++) {
        double v = s->gv[c][i] = s->v[c][i] + 0.01 * a[c];
        energy += v * v;
      }
    }
    return 0.5 * energy;
  };
  k.primal = [s, advance] { s->y = advance(); };
  k.gradient = [s, n, advance] {
    advance();
    const double *px = s->p[0].data(), *py = s->p[1].data(), *pz = s->p[2].data();
    const double *vx = s->gv[0].data(), *vy = s->gv[1].data(), *vz = s->gv[2].data();
    // A pair pulls both ways: what i does to j and j to i in one term.
    for (size_t i = 0; i < n; i++) {
      double g[3] = {0, 0, 0};
      for (size_t j = 0; j < n; j++) {
        double dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
        double squared = dx * dx + dy * dy + dz * dz + 0.01, strength = 1 / (squared * std::sqrt(squared));
        double wx = vx[j] - vx[i], wy = vy[j] - vy[i], wz = vz[j] - vz[i];
        double f = 3 * strength * (wx * dx + wy * dy + wz * dz) / squared;
        g[0] += strength * wx - f * dx;
        g[1] += strength * wy - f * dy;
        g[2] += strength * wz - f * dz;
      }
      for (size_t c = 0; c < 3; c++) s->gp[c][i] = 0.01 * g[c];
    }
  };
  k.value = [s] { return Vector{s->y}; };
  // Body by body, positions before velocities.
  k.slope = [s, n] {
    Vector out;
    for (auto *all : {&s->gp, &s->gv})
      for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++) out.push_back((*all)[c][i]);
    return out;
  };
  return k;
}

// ---- The clock

Vector summary(const Vector &xs) {
  double sum = 0, squares = 0, weighted = 0;
  for (size_t i = 0; i < xs.size(); i++) {
    sum += xs[i];
    squares += xs[i] * xs[i];
    weighted += double(1 + i % 7) * xs[i];
  }
  return {double(xs.size()), sum, squares, weighted};
}

double median_time(const std::function<void()> &function, size_t runs, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  double all = 0;
  function();
  while (times.size() < runs || all < seconds * 1e9) {
    auto begin = Clock::now();
    function();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    all += times.back();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Job {
  std::string name;
  size_t size, runs;
  double seconds;
  bool known = false;
};

const std::map<std::string, Kernel (*)(size_t)> kernels = {
    {"chain", chain}, {"logsumexp", logsumexp}, {"squares", squares}, {"dot", dot}, {"saxpy", saxpy},
    {"matmul", matmul}, {"lstm", lstm}, {"reprojection", reprojection}, {"branch", branch}, {"newton", newton},
    {"recursion", recursion}, {"tree", tree}, {"list", list}, {"closures", closures}, {"hvp", hvp},
    {"net", net}, {"nbody", nbody}};

void *work(void *argument) {
  Job &job = *static_cast<Job *>(argument);
  auto found = kernels.find(job.name);
  if (found == kernels.end()) return nullptr;
  Kernel kernel = found->second(job.size);
  auto report = [&](const char *what, const std::function<void()> &function, const Vector &result) {
    std::printf("%s %.1f", what, median_time(function, job.runs, job.seconds));
    for (double x : result) std::printf(" %.17g", x);
    std::printf("\n");
  };
  auto shown = [&](const Vector &xs) { return kernel.plain ? xs : summary(xs); };
  kernel.primal();
  report("primal", kernel.primal, shown(kernel.value()));
  kernel.gradient();
  report("gradient", kernel.gradient, shown(kernel.slope()));
  job.known = true;
  return nullptr;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: hand KERNEL SIZE RUNS SECONDS\n");
    return 2;
  }
  Job job{argv[1], size_t(std::atoll(argv[2])), size_t(std::atoll(argv[3])), std::atof(argv[4])};
  // Recursion a million deep needs a large stack.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t(1) << 30);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, work, &job) != 0) {
    std::fprintf(stderr, "hand: there is no memory for a stack\n");
    return 1;
  }
  pthread_join(thread, nullptr);
  if (!job.known) std::fprintf(stderr, "hand: there is no kernel `%s`\n", job.name.c_str());
  return job.known ? 0 : 1;
}
