/* Fits a parabola by gradient descent: the library knows the misfit and its gradient. */
#include "misfit.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    double c[] = {0, 0, 0}, x[] = {-1, 0, 1, 2}, y[] = {6, 1, 0, 3}, error;
    wengert_reals_1 coefficients = {c, {3}}, xs = {x, {4}}, ys = {y, {4}}, gradient, unused_x, unused_y;
    misfit_run *run = misfit_open((uint64_t)1 << 30);
    for (int step = 0; step < 500; step++) {
        if (misfit_vjp(run, coefficients, xs, ys, 1.0, &error, &gradient, &unused_x, &unused_y)) {
            fprintf(stderr, "%s\n", misfit_message(run));
            return 1;
        }
        for (int i = 0; i < 3; i++) c[i] -= 0.02 * gradient.data[i];
        free(gradient.data);
        free(unused_x.data);
        free(unused_y.data);
    }
    printf("%.3f %.3f %.3f, off by %.3f\n", c[0], c[1], c[2], error);
    misfit_close(run);
    return 0;
}
