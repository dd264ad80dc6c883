//! Programs of every kind against values that were computed elsewhere: by hand, by high-precision numerical
//! differentiation (mpmath), by complex steps, never by the program itself.
//!
//! Text must agree exactly, reals to eight digits.

use std::path::Path;
use wengert_tests::everywhere;
use wengert_tests::project;

const DEFINITIONS: &str = include_str!("audit_programs/definitions.wg");

/// An expression and the value it must have.
#[rustfmt::skip]
const PROGRAMS: &[(&str, &str)] = &[
    (r##"7 / 2"##, r##"3"##),
    (r##"-7 % 3"##, r##"-1"##),
    (r##"mod (-7) 3"##, r##"2"##),
    (r##"div (-7) 3"##, r##"-3"##),
    (r##"7.0 / 2"##, r##"3.5"##),
    (r##"2 ^ 10"##, r##"1024"##),
    (r##"2.0 ^ -2"##, r##"0.25"##),
    (r##"2 ** 0.5"##, r##"1.4142135623730951"##),
    (r##"-2 ^ 2"##, r##"-4"##),
    (r##"2 ^ 3 ^ 2"##, r##"512"##),
    (r##"1 - 2 - 3"##, r##"-4"##),
    (r##"2 - -3"##, r##"5"##),
    (r##"(\x -> -x ^ 2) 3.0"##, r##"-9.0"##),
    (r##"1e308 * 10"##, r##"Infinity"##),
    (r##"0.0 / 0.0"##, r##"NaN"##),
    (r##"-1.0 / 0.0"##, r##"-Infinity"##),
    (r##"min 1 2 + max 3 4"##, r##"5"##),
    (r##"5e-324"##, r##"5e-324"##),
    (r##"-0.0"##, r##"-0.0"##),
    (r##"1.0 / -0.0"##, r##"-Infinity"##),
    (r##"9223372036854775807 + 1"##, r##"-9223372036854775808"##),
    (r##"bit_xor 12 10"##, r##"6"##),
    (r##"shift_left 1 40"##, r##"1099511627776"##),
    (r##"floor (-2.5)"##, r##"-3"##),
    (r##"(ceil 2.1, round 2.5, truncate (-2.9))"##, r##"(3, 3, -2)"##),
    (r##"real 3 / 2"##, r##"1.5"##),
    (r##"if 1 < 2 && not (2 < 1) || false then "a" else "b""##, r##""a""##),
    (r##"true || fail "no""##, r##"true"##),
    (r##""a" < "b""##, r##"true"##),
    (r##"(1, "x", [true]) == (1, "x", [true])"##, r##"true"##),
    (r##"{b = 1, a = 2.0}.a"##, r##"2.0"##),
    (r##"{{x = 1.0, y = 2.0} with x = 3.0}.x"##, r##"3.0"##),
    (r##"(\r -> r.x + r.y.z) {x = 1, y = {z = 2, w = "q"}}"##, r##"3"##),
    (r##"let f r = r.x in (f {x = 1}, f {x = "s", y = 2})"##, r##"(1, "s")"##),
    (r##""λ → \u{1F600}""##, r##""λ → 😀""##),
    (r##"string_length "λx→""##, r##"3"##),
    (r##""a" ++ "b" ++ show (Cons 1 Nil)"##, r##""abCons 1 Nil""##),
    (r##"show "q\"uote\n""##, r##""\"q\\\"uote\\n\"""##),
    (r##"[1, 2, 3] |> map (\x -> x * x) |> sum"##, r##"14"##),
    (r##"((\x -> x + 1) >> (\x -> x * 2)) 5"##, r##"12"##),
    (r##"let rec f n = if n < 2 then n else f (n - 1) + f (n - 2) in f 20"##, r##"6765"##),
    (r##"let rec ev n = n == 0 || od (n - 1) and od n = n != 0 && ev (n - 1) in (ev 10, od 10)"##, r##"(true, false)"##),
    (r##"is_even 101"##, r##"false"##),
    (r##"let id = \x -> x in (id 1, id "a")"##, r##"(1, "a")"##),
    (r##"let x = 1 let x = x + 1 in x"##, r##"2"##),
    (r##"let sin = 3.0 in sin"##, r##"3.0"##),
    (r##"(\sum -> sum) 4"##, r##"4"##),
    (r##"match (1, [2]) with | (0, _) -> 0 | (n, xs) -> n + xs[0]"##, r##"3"##),
    (r##"match Cons 1 (Cons 2 Nil) with | Cons _ (Cons y _ as t) -> (y, t) | _ -> (0, Nil)"##, r##"(2, Cons 2 Nil)"##),
    (r##"match {x = 1, y = Cons "a" Nil} with | {x = 0} -> "z" | {y = Cons s _} -> s | _ -> """##, r##""a""##),
    (r##"build 2 (\i -> build 3 (\j -> real (i * 3 + j)))"##, r##"[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"##),
    (r##"[[1, 2], [3, 4]][1, 0]"##, r##"3"##),
    (r##"[[1, 2], [3, 4]][1][0]"##, r##"3"##),
    (r##"transpose [[1, 2, 3], [4, 5, 6]]"##, r##"[[1, 4], [2, 5], [3, 6]]"##),
    (r##"scan (+) 0 [1, 2, 3]"##, r##"[1, 3, 6]"##),
    (r##"fold (-) 0 [1, 2, 3]"##, r##"-6"##),
    (r##"reduce (*) 1 [1, 2, 3, 4]"##, r##"24"##),
    (r##"slice [0, 1, 2, 3] 1 3"##, r##"[1, 2]"##),
    (r##"concat [1] [2, 3]"##, r##"[1, 2, 3]"##),
    (r##"unzip (zip [1, 2] ["a", "b"])"##, r##"([1, 2], ["a", "b"])"##),
    (r##"iterate 10 (\x -> x * 2) 1"##, r##"1024"##),
    (r##"while_loop (\x -> x < 100) (\x -> x * 3) 1"##, r##"243"##),
    (r##"matmul [[1, 2], [3, 4]] [[0, 1], [1, 0]]"##, r##"[[2, 1], [4, 3]]"##),
    (r##"matvec [[1.0, 2.0], [3.0, 4.0]] [1, 1]"##, r##"[3.0, 7.0]"##),
    (r##"dot [1, 2] [3, 4]"##, r##"11"##),
    (r##"sum (iota 0)"##, r##"0"##),
    (r##"maximum [3.0, 1.0]"##, r##"3.0"##),
    (r##"length (build 0 (\i -> i))"##, r##"0"##),
    (r##"(map sin [] : [0]Real)"##, r##"[]"##),
    (r##"[]"##, r##"[]"##),
    (r##"()"##, r##"()"##),
    (r##"(\x -> x)"##, r##"<function>"##),
    (r##"Cons (-1.5) Nil"##, r##"Cons (-1.5) Nil"##),
    (r##"sin"##, r##"<function>"##),
    (r##"let (a, {x, y = (b, _)}) = (1, {x = 2, y = (3, 4)}) in a + x + b"##, r##"6"##),
    (r##"(sort [3, 1, 2], argsort [3, 1, 2], reverse [1, 2])"##, r##"([1, 2, 3], [1, 2, 0], [2, 1])"##),
    (r##"tree_fold (\l x r -> l + x + r) 0 (fold (\t x -> insert x t) Leaf [3, 1, 2])"##, r##"6"##),
    (r##"apply (Both (Fun (\x -> x + 1)) (Fun (\x -> x * 2))) 3"##, r##"8"##),
    (r##"church 5 (\x -> x * 2) 1"##, r##"32"##),
    (r##"curry3 (\(a, b, c) -> a + b * c) 1 2 3"##, r##"7"##),
    (r##"list_sum (list_map real (from_array [1, 2, 3]))"##, r##"6.0"##),
    (r##"let k = 1_000_000 in k"##, r##"1000000"##),
    (r##"1.5e-3"##, r##"0.0015"##),
    (r##"1e21"##, r##"1e21"##),
    (r##"123456789.125"##, r##"123456789.125"##),
    (r##"1e16"##, r##"1e16"##),
    (r##"taylor 3 exp 0.7"##, r##"[2.0137527074704766, 2.0137527074704766, 2.0137527074704766, 2.0137527074704766]"##),
    (r##"(exp 0.7, grad exp 0.7, derivative (grad exp) 0.7, grad (derivative (grad exp)) 0.7)"##, r##"(2.0137527074704766, 2.0137527074704766, 2.0137527074704766, 2.0137527074704766)"##),
    (r##"taylor 3 log 0.7"##, r##"[-0.35667494393873245, 1.4285714285714286, -2.0408163265306123, 5.830903790087465]"##),
    (r##"(log 0.7, grad log 0.7, derivative (grad log) 0.7, grad (derivative (grad log)) 0.7)"##, r##"(-0.35667494393873245, 1.4285714285714286, -2.0408163265306123, 5.830903790087465)"##),
    (r##"taylor 3 sqrt 0.7"##, r##"[0.8366600265340756, 0.5976143046671969, -0.4268673604765692, 0.9147157724497912]"##),
    (r##"(sqrt 0.7, grad sqrt 0.7, derivative (grad sqrt) 0.7, grad (derivative (grad sqrt)) 0.7)"##, r##"(0.8366600265340756, 0.5976143046671969, -0.4268673604765692, 0.9147157724497912)"##),
    (r##"taylor 3 sin 0.7"##, r##"[0.644217687237691, 0.7648421872844885, -0.644217687237691, -0.7648421872844885]"##),
    (r##"(sin 0.7, grad sin 0.7, derivative (grad sin) 0.7, grad (derivative (grad sin)) 0.7)"##, r##"(0.644217687237691, 0.7648421872844885, -0.644217687237691, -0.7648421872844885)"##),
    (r##"taylor 3 cos 0.7"##, r##"[0.7648421872844885, -0.644217687237691, -0.7648421872844885, 0.644217687237691]"##),
    (r##"(cos 0.7, grad cos 0.7, derivative (grad cos) 0.7, grad (derivative (grad cos)) 0.7)"##, r##"(0.7648421872844885, -0.644217687237691, -0.7648421872844885, 0.644217687237691)"##),
    (r##"taylor 3 tan 0.7"##, r##"[0.8422883804630794, 1.7094497158631172, 2.8796992653148323, 10.695511122934484]"##),
    (r##"(tan 0.7, grad tan 0.7, derivative (grad tan) 0.7, grad (derivative (grad tan)) 0.7)"##, r##"(0.8422883804630794, 1.7094497158631172, 2.8796992653148323, 10.695511122934484)"##),
    (r##"taylor 3 asin 0.3"##, r##"[0.3046926540153975, 1.0482848367219182, 0.3455884077105225, 1.4937520919355918]"##),
    (r##"(asin 0.3, grad asin 0.3, derivative (grad asin) 0.3, grad (derivative (grad asin)) 0.3)"##, r##"(0.3046926540153975, 1.0482848367219182, 0.3455884077105225, 1.4937520919355918)"##),
    (r##"taylor 3 acos 0.3"##, r##"[1.2661036727794992, -1.0482848367219182, -0.3455884077105225, -1.4937520919355918]"##),
    (r##"(acos 0.3, grad acos 0.3, derivative (grad acos) 0.3, grad (derivative (grad acos)) 0.3)"##, r##"(1.2661036727794992, -1.0482848367219182, -0.3455884077105225, -1.4937520919355918)"##),
    (r##"taylor 3 atan 0.7"##, r##"[0.6107259643892086, 0.6711409395973155, -0.6306022251249944, 0.28416399406399545]"##),
    (r##"(atan 0.7, grad atan 0.7, derivative (grad atan) 0.7, grad (derivative (grad atan)) 0.7)"##, r##"(0.6107259643892086, 0.6711409395973155, -0.6306022251249944, 0.28416399406399545)"##),
    (r##"taylor 3 sinh 0.7"##, r##"[0.7585837018395335, 1.255169005630943, 0.7585837018395335, 1.255169005630943]"##),
    (r##"(sinh 0.7, grad sinh 0.7, derivative (grad sinh) 0.7, grad (derivative (grad sinh)) 0.7)"##, r##"(0.7585837018395335, 1.255169005630943, 0.7585837018395335, 1.255169005630943)"##),
    (r##"taylor 3 cosh 0.7"##, r##"[1.255169005630943, 0.7585837018395335, 1.255169005630943, 0.7585837018395335]"##),
    (r##"(cosh 0.7, grad cosh 0.7, derivative (grad cosh) 0.7, grad (derivative (grad cosh)) 0.7)"##, r##"(1.255169005630943, 0.7585837018395335, 1.255169005630943, 0.7585837018395335)"##),
    (r##"taylor 3 tanh 0.7"##, r##"[0.6043677771171635, 0.6347395899824586, -0.7672323100919165, 0.12159227738323637]"##),
    (r##"(tanh 0.7, grad tanh 0.7, derivative (grad tanh) 0.7, grad (derivative (grad tanh)) 0.7)"##, r##"(0.6043677771171635, 0.6347395899824586, -0.7672323100919165, 0.12159227738323637)"##),
    (r##"taylor 3 erf 0.7"##, r##"[0.6778011938374184, 0.6912748604105386, -0.967784804574754, -0.027650994416421718]"##),
    (r##"(erf 0.7, grad erf 0.7, derivative (grad erf) 0.7, grad (derivative (grad erf)) 0.7)"##, r##"(0.6778011938374184, 0.6912748604105386, -0.967784804574754, -0.027650994416421718)"##),
    (r##"taylor 3 lgamma 2.7"##, r##"[0.4348205536551047, 0.7967831689911411, 0.4472120689183236, -0.19700583557913573]"##),
    (r##"(lgamma 2.7, grad lgamma 2.7, derivative (grad lgamma) 2.7, grad (derivative (grad lgamma)) 2.7)"##, r##"(0.4348205536551047, 0.7967831689911411, 0.4472120689183236, -0.19700583557913573)"##),
    (r##"taylor 3 gamma 2.7"##, r##"[1.5446858458505939, 1.2307796833525975, 1.6714666893832908, 2.128323457010398]"##),
    (r##"(gamma 2.7, grad gamma 2.7, derivative (grad gamma) 2.7, grad (derivative (grad gamma)) 2.7)"##, r##"(1.5446858458505939, 1.2307796833525975, 1.6714666893832908, 2.128323457010398)"##),
    (r##"taylor 3 digamma 1.7"##, r##"[0.2085478748734939, 0.7932328301639984, -0.6040890841034591, 0.8895620066243164]"##),
    (r##"(digamma 1.7, grad digamma 1.7, derivative (grad digamma) 1.7, grad (derivative (grad digamma)) 1.7)"##, r##"(0.2085478748734939, 0.7932328301639984, -0.6040890841034591, 0.8895620066243164)"##),
    (r##"taylor 3 asinh 0.4"##, r##"[0.3900353197707153, 0.9284766908852593, -0.3201643761673308, -0.4692064133486744]"##),
    (r##"(asinh 0.4, grad asinh 0.4, derivative (grad asinh) 0.4, grad (derivative (grad asinh)) 0.4)"##, r##"(0.3900353197707153, 0.9284766908852593, -0.3201643761673308, -0.4692064133486744)"##),
    (r##"taylor 3 acosh 1.4"##, r##"[0.867014726490565, 1.0206207261596576, -1.488405225649501, 5.4486262724669245]"##),
    (r##"(acosh 1.4, grad acosh 1.4, derivative (grad acosh) 1.4, grad (derivative (grad acosh)) 1.4)"##, r##"(0.867014726490565, 1.0206207261596576, -1.488405225649501, 5.4486262724669245)"##),
    (r##"taylor 3 atanh 0.4"##, r##"[0.42364893019360184, 1.1904761904761905, 1.1337868480725624, 4.994061116510097]"##),
    (r##"(atanh 0.4, grad atanh 0.4, derivative (grad atanh) 0.4, grad (derivative (grad atanh)) 0.4)"##, r##"(0.42364893019360184, 1.1904761904761905, 1.1337868480725624, 4.994061116510097)"##),
    (r##"taylor 3 erfc 0.4"##, r##"[0.5716076449533315, -0.9615412988393077, 0.7692330390714462, 1.3076961664214586]"##),
    (r##"(erfc 0.4, grad erfc 0.4, derivative (grad erfc) 0.4, grad (derivative (grad erfc)) 0.4)"##, r##"(0.5716076449533315, -0.9615412988393077, 0.7692330390714462, 1.3076961664214586)"##),
    (r##"taylor 3 cbrt 2.0"##, r##"[1.2599210498948732, 0.20998684164914552, -0.06999561388304851, 0.05832967823587376]"##),
    (r##"(cbrt 2.0, grad cbrt 2.0, derivative (grad cbrt) 2.0, grad (derivative (grad cbrt)) 2.0)"##, r##"(1.2599210498948732, 0.20998684164914552, -0.06999561388304851, 0.05832967823587376)"##),
    (r##"taylor 3 expm1 0.001"##, r##"[0.0010005001667083417, 1.0010005001667084, 1.0010005001667084, 1.0010005001667084]"##),
    (r##"(expm1 0.001, grad expm1 0.001, derivative (grad expm1) 0.001, grad (derivative (grad expm1)) 0.001)"##, r##"(0.0010005001667083417, 1.0010005001667084, 1.0010005001667084, 1.0010005001667084)"##),
    (r##"taylor 3 log1p 0.001"##, r##"[0.0009995003330835331, 0.999000999000999, -0.998002996004994, 1.994011980029958]"##),
    (r##"(log1p 0.001, grad log1p 0.001, derivative (grad log1p) 0.001, grad (derivative (grad log1p)) 0.001)"##, r##"(0.0009995003330835331, 0.999000999000999, -0.998002996004994, 1.994011980029958)"##),
    (r##"derivative (\x -> atan2 x 2.0) 1.0"##, r##"0.4"##),
    (r##"grad (\(y, x) -> atan2 y x) (1.0, 2.0)"##, r##"(0.4, -0.2)"##),
    (r##"grad (\(x, y) -> x ** y) (2.0, 3.0)"##, r##"(12.0, 5.545177444479562)"##),
    (r##"grad (\(x, y) -> hypot x y) (3.0, 4.0)"##, r##"(0.6, 0.8)"##),
    (r##"derivative sigmoid 0.3"##, r##"0.24445831169074586"##),
    (r##"derivative (\x -> polygamma 1 x) 1.7"##, r##"-0.6040890841034591"##),
    (r##"map (derivative abs) [-1.0, 0.0, 2.0]"##, r##"[-1.0, 0.0, 1.0]"##),
    (r##"grad (\(a, b) -> min a b) (1.0, 1.0)"##, r##"(1.0, 0.0)"##),
    (r##"grad (\(a, b) -> max a b) (1.0, 1.0)"##, r##"(1.0, 0.0)"##),
    (r##"derivative sqrt 0.0"##, r##"Infinity"##),
    (r##"derivative (\x -> if x > 0 then log x else 0) 0.0"##, r##"0.0"##),
    (r##"derivative (\x -> min 1 (1 / x)) 0.0"##, r##"0.0"##),
    (r##"grad (\x -> min 1 (1 / x)) 0.0"##, r##"0.0"##),
    (r##"grad (\v -> norm v ^ 2) [0, 0]"##, r##"[0.0, 0.0]"##),
    (r##"hessian (\v -> v[0] ** 2.0 + v[1] ** 2.0) [0, 0]"##, r##"[[2.0, 0.0], [0.0, 2.0]]"##),
    (r##"taylor 3 (\x -> x ** 1.0) 1.0"##, r##"[1.0, 1.0, 0.0, 0.0]"##),
    (r##"derivative tanh 200.0"##, r##"0.0"##),
    (r##"grad maximum [1.0, 1.0]"##, r##"[1.0, 0.0]"##),
    (r##"derivative relu 0.0"##, r##"0.0"##),
    (r##"grad (\x -> x * real (floor x)) 2.5"##, r##"2.0"##),
    (r##"derivative (\x -> 20) 45.0"##, r##"0.0"##),
    (r##"derivative (\x -> if x > 0 then 1.0 else 0.0) 1.0"##, r##"0.0"##),
    (r##"grad (\x -> x * grad (\y -> x) 2.0) 1.0"##, r##"0.0"##),
    (r##"derivative (\x -> x * derivative (\y -> x + y) 1.0) 1.0"##, r##"1.0"##),
    (r##"derivative (\x -> x * derivative (\y -> x * y) 2.0) 1.0"##, r##"2.0"##),
    (r##"grad (\x -> x ^ 2 * grad (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"grad (\x -> grad (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad (\x -> grad (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad (\x -> x ^ 2 * derivative (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"grad (\x -> derivative (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad (\x -> derivative (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad (\x -> x ^ 2 * grad_fwd (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"grad (\x -> grad_fwd (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad (\x -> grad_fwd (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"derivative (\x -> x ^ 2 * grad (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"derivative (\x -> grad (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"derivative (\x -> grad (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"derivative (\x -> x ^ 2 * derivative (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"derivative (\x -> derivative (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"derivative (\x -> derivative (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"derivative (\x -> x ^ 2 * grad_fwd (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"derivative (\x -> grad_fwd (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"derivative (\x -> grad_fwd (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad_fwd (\x -> x ^ 2 * grad (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"grad_fwd (\x -> grad (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad_fwd (\x -> grad (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad_fwd (\x -> x ^ 2 * derivative (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"grad_fwd (\x -> derivative (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad_fwd (\x -> derivative (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad_fwd (\x -> x ^ 2 * grad_fwd (\y -> sin (x * y) * x) (x ^ 2)) 1.1"##, r##"-3.898135137802115"##),
    (r##"grad_fwd (\x -> grad_fwd (\y -> y * grad (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"grad_fwd (\x -> grad_fwd (\y -> y * derivative (\z -> exp (x * y * z)) x) (x * x)) 0.6"##, r##"3.2830977009878124"##),
    (r##"(jvp shift (3.0, 1.0) |> snd) (\x -> exp x) 5.0"##, r##"2980.9579870417283"##),
    (r##"let s = snd (jvp shift (3.0, 1.0)) in s (s exp) 5.0"##, r##"59874.14171519782"##),
    (r##"let v u f1 f2 x = f1 f2 (x + u) let w = snd (jvp v (0.0, 1.0)) in w (w (\f -> f)) exp 1.0"##, r##"2.718281828459045"##),
    (r##"derivative (\k -> derivative (\x -> k * x * x) 2.0) 3.0"##, r##"4.0"##),
    (r##"grad (\p -> derivative (derivative (\x -> p * x * x)) 2.0) 3.0"##, r##"2.0"##),
    (r##"snd (jvp (\g -> g (g 1.0)) (sin, cos))"##, r##"1.0264062344825016"##),
    (r##"apply_dual (pullback (\g -> g (g 1.0)) (\_ -> to_dual 1.0) sin) cos"##, r##"1.0264062344825016"##),
    (r##"apply_dual (pullback (\(g, a) -> g a * a) (\_ -> to_dual 2.0) (sin, 1.5)) (cos, 1.0)"##, r##"2.4194131832143264"##),
    (r##"snd (jvp (\f -> derivative f 2.0) (\x -> x ^ 3, \x -> x ^ 2))"##, r##"4.0"##),
    (r##"snd (jvp (\f -> build 2 (\i -> f (real i))) (exp, sin))"##, r##"[0.0, 0.8414709848078965]"##),
    (r##"apply_dual (pullback (\x -> (\y -> x * y)) (\_ -> pullback (\g -> g 3.0) (\_ -> to_dual 1.0) (\y -> y)) 2.0) 1.0"##, r##"3.0"##),
    (r##"snd (jvp (\s -> match s with | Fun g -> g 2.0 | Both _ _ -> 0.0) (Fun sin, Fun exp))"##, r##"7.38905609893065"##),
    (r##"snd (jvp (\s -> apply s 2.0) (Both (Fun sin) (Fun exp), Both (Fun (\_ -> 1.0)) (Fun (\_ -> 0.0))))"##, r##"2.4825777280150008"##),
    (r##"(snd (jvp (\x -> {f = \y -> x * y, n = x}) (2.0, 1.0))).f 5.0"##, r##"5.0"##),
    (r##"let r = snd (jvp (\x -> map (\k y -> x ^ 2 * y + k) [1.0, 2.0]) (3.0, 1.0)) in map (\f -> f 10.0) r"##, r##"[60.0, 60.0]"##),
    (r##"derivative (\x -> derivative (\f -> f) x) 1.0"##, r##"0.0"##),
    (r##"derivative (\x -> snd (jvp (\g -> g x) (sin, cos))) 1.0"##, r##"-0.8414709848078965"##),
    (r##"grad (\x -> apply_dual (pullback (\y -> x * y * y) (\_ -> to_dual 1.0) x) 1.0) 3.0"##, r##"12.0"##),
    (r##"from_dual (pullback (\x -> (x, [x * x], {k = x ^ 3})) (\_ -> to_dual (1.0, [10.0], {k = 100.0})) 2.0)"##, r##"1241.0"##),
    (r##"grad area (Circle 2)"##, r##"Circle 12.566370614359172"##),
    (r##"grad area (Rect {w = 2, h = 3})"##, r##"Rect {h = 2.0, w = 3.0}"##),
    (r##"grad area (Poly [(0, 0), (2, 0), (0, 1)])"##, r##"Poly [(-0.5, -1.0), (0.5, 0.0), (0.0, 1.0)]"##),
    (r##"grad (value [3, 5]) (Add (Mul (Num 2) (Var 0)) (Sin (Tagged "t" (Num 1))))"##, r##"Add (Mul (Num 3.0) (Var 0)) (Sin (Tagged "t" (Num 0.5403023058681398)))"##),
    (r##"grad (\env -> value env (Mul (Var 0) (Mul (Var 1) (Var 0)))) [3, 5]"##, r##"[30.0, 9.0]"##),
    (r##"grad (value [2]) (Mul (Num 0) (Num 7))"##, r##"Mul (Num 0.0) (Num 0.0)"##),
    (r##"grad even_sum (Next (More 1 (Next (More 2 Stop))))"##, r##"Next (More 2.0 (Next (More 4.0 Stop)))"##),
    (r##"grad odd_sum (More 3 Stop)"##, r##"More 6.0 Stop"##),
    (r##"grad (tree_fold (\l x r -> l + x * x + r) 0) (Node (Node Leaf 1 Leaf) 2 Leaf)"##, r##"Node (Node Leaf 2.0 Leaf) 4.0 Leaf"##),
    (r##"hvp list_sum (Cons 1 (Cons 2 Nil)) (Cons 1 (Cons 1 Nil))"##, r##"Cons 0.0 (Cons 0.0 Nil)"##),
    (r##"hvp (\xs -> match xs with | Cons a (Cons b _) -> a ^ 2 * b | _ -> 0) (Cons 3 (Cons 5 (Cons 9 Nil))) (Cons 1 (Cons 2 (Cons 3 Nil)))"##, r##"Cons 22.0 (Cons 6.0 (Cons 0.0 Nil))"##),
    (r##"grad norm1 {x = -2, y = 3}"##, r##"{x = -1.0, y = 1.0}"##),
    (r##"grad (\(n, s, b, x) -> if b then x * real n else real (string_length s) * x) (3, "ab", false, 2.0)"##, r##"(3, "ab", false, 2.0)"##),
    (r##"value_and_grad (\t -> t.a[1] * snd t.b) {a = [1, 2], b = ("k", 4)}"##, r##"(8.0, {a = [0.0, 4.0], b = ("k", 2.0)})"##),
    (r##"jvp area (Circle 1, Circle 2)"##, r##"(3.141592653589793, 12.566370614359172)"##),
    (r##"let (y, b) = vjp (\x -> Cons x (Cons (x * x) Nil)) 3.0 in (y, b (Cons 1 (Cons 1 Nil)))"##, r##"(Cons 3.0 (Cons 9.0 Nil), 7.0)"##),
    (r##"let (_, t) = linearize area (Rect {w = 2, h = 3}) in (t (Rect {w = 1, h = 0}), t (Rect {w = 0, h = 1}))"##, r##"(3.0, 2.0)"##),
    (r##"inner {a = 1.0, b = [2.0, 3.0]} {a = 4.0, b = [5.0, 6.0]}"##, r##"32.0"##),
    (r##"zero (Node Leaf (1.0, "a", 3) Leaf)"##, r##"Node Leaf (0.0, "a", 3) Leaf"##),
    (r##"jvp (\x -> (x, "s", 3, x > 0)) (1.0, 5.0)"##, r##"((1.0, "s", 3, true), (5.0, "s", 3, true))"##),
    (r##"grad (\xs -> sum (gather xs [0, 0, 2])) [5, 6, 7]"##, r##"[2.0, 0.0, 1.0]"##),
    (r##"jacfwd (\xs -> set xs 0 0.0) [5, 6, 7]"##, r##"[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]"##),
    (r##"grad sum []"##, r##"[]"##),
    (r##"grad product [2, 0, 4]"##, r##"[0.0, 8.0, 0.0]"##),
    (r##"grad product [0, 0, 4]"##, r##"[0.0, 0.0, 0.0]"##),
    (r##"grad (\xs -> fold (\a x -> a * x + 1) 0 xs) [2, 3, 4]"##, r##"[0.0, 4.0, 4.0]"##),
    (r##"grad (\xs -> (sort xs)[0] * 2 + (sort xs)[2]) [3, 1, 2]"##, r##"[1.0, 2.0, 0.0]"##),
    (r##"grad (\xs -> sum (scan (*) 1 xs)) [2, 3, 4]"##, r##"[16.0, 10.0, 6.0]"##),
    (r##"grad (\m -> sum (flatten (matmul m (transpose m)))) [[1, 2], [3, 4]]"##, r##"[[8.0, 12.0], [8.0, 12.0]]"##),
    (r##"jacrev (\v -> matvec [[2, 1], [1, 3]] v) [1, 1]"##, r##"[[2.0, 1.0], [1.0, 3.0]]"##),
    (r##"hessian (\v -> dot v (matvec [[2, 1], [1, 3]] v)) [1, 1]"##, r##"[[4.0, 2.0], [2.0, 6.0]]"##),
    (r##"grad (\(a, b) -> dot a b) ([1, 2], [3, 4])"##, r##"([3.0, 4.0], [1.0, 2.0])"##),
    (r##"grad (\xs -> sum (scatter_add [0, 0] [1, 1, 0] (map square xs))) [1, 2, 3]"##, r##"[2.0, 4.0, 6.0]"##),
    (r##"grad (\xs -> sum (filter (\x -> x > 1) xs)) [1, 2, 3]"##, r##"[0.0, 1.0, 1.0]"##),
    (r##"grad (\xs -> reduce max 0 xs) [1, 5, 3]"##, r##"[0.0, 1.0, 0.0]"##),
    (r##"grad (\xs -> sum (map2 (*) xs (reverse xs))) [1, 2, 3]"##, r##"[6.0, 4.0, 2.0]"##),
    (r##"grad (\xs -> sum (slice xs 1 2)) [1, 2, 3]"##, r##"[0.0, 1.0, 0.0]"##),
    (r##"grad (\w -> softmax_loss w [1, 2] 1) [[0.1, 0.2], [0.3, -0.4], [0.5, 0]]"##, r##"[[0.42231879825151825, 0.8446375965030365], [-0.8446375965030364, -1.6892751930060728], [0.42231879825151825, 0.8446375965030365]]"##),
    (r##"derivative sqrt_by_newton 2.0"##, r##"0.35355339059327373"##),
    (r##"grad sqrt_by_newton 2.0"##, r##"0.35355339059327373"##),
    (r##"grad (\x -> pow x 13) 1.1"##, r##"40.79956889737304"##),
    (r##"derivative (double_up 60) 1.0"##, r##"1.152921504606847e18"##),
    (r##"grad (double_up 60) 1.0"##, r##"1.152921504606847e18"##),
    (r##"taylor 2 (double_up 60) 1.0"##, r##"[1.152921504606847e18, 1.152921504606847e18, 0.0]"##),
    (r##"grad (\x -> iterate 0 sin x) 1.0"##, r##"1.0"##),
    (r##"grad (\x -> fst (while_loop (\(y, i) -> y < 100) (\(y, i) -> (y * x, i + 1)) (x, 0))) 3.0"##, r##"405.0"##),
    (r##"(grad (\x -> church 100000 (\y -> y + x) 0) 1.0, derivative (\x -> church 100000 (\y -> y + x) 0) 1.0)"##, r##"(100000.0, 100000.0)"##),
    (r##"grad (\v -> let step s = let r = (s.x ^ 2 + s.y ^ 2) ** 1.5 in {x = s.u, y = s.v, u = -s.x / r, v = -s.y / r} in (iterate 50 (rk4 step 0.05) {x = 1, y = 0, u = 0, v = v}).x) 0.9"##, r##"-3.5354902269565747"##),
    (r##"derivative (\v -> let step s = let r = (s.x ^ 2 + s.y ^ 2) ** 1.5 in {x = s.u, y = s.v, u = -s.x / r, v = -s.y / r} in (iterate 50 (rk4 step 0.05) {x = 1, y = 0, u = 0, v = v}).x) 0.9"##, r##"-3.5354902269565747"##),
    (r##"grad (checkpoint (\v -> let step s = let r = (s.x ^ 2 + s.y ^ 2) ** 1.5 in {x = s.u, y = s.v, u = -s.x / r, v = -s.y / r} in (iterate 50 (checkpoint (rk4 step 0.05)) {x = 1, y = 0, u = 0, v = v}).x)) 0.9"##, r##"-3.5354902269565747"##),
    (r##"grad cube 2.0"##, r##"12.0"##),
    (r##"grad (grad cube) 2.0"##, r##"12.0"##),
    (r##"derivative safe_log 2.0"##, r##"0.5"##),
    (r##"grad (\x -> list_sum (list_map wrong_cube (Cons x Nil))) 1.0"##, r##"100.0"##),
    (r##"derivative (grad wrong_cube) 1.0"##, r##"0.0"##),
    (r##"grad (\x -> stop_gradient x * x) 3.0"##, r##"3.0"##),
    (r##"grad (\x -> derivative (\y -> stop_gradient (x * y)) 2.0) 3.0"##, r##"0.0"##),
    (r##"grad (\x -> checkpoint sin x * x) 1.0"##, r##"1.3817732906760363"##),
    (r##"derivative (grad (checkpoint (\x -> sin x * x))) 1.0"##, r##"0.23913362692838303"##),
    (r##"taylor 2 (checkpoint exp) 0.0"##, r##"[1.0, 1.0, 1.0]"##),
    (r##"grad (\k -> checkpoint (\x -> k * x) 3.0) 2.0"##, r##"3.0"##),
    (r##"grad (\xs -> sum (map cube xs)) [1, 2]"##, r##"[3.0, 12.0]"##),
    (r##"taylor 10 (\t -> 0.3 * sin t * t ^ 10) 1.1"##, r##"[0.6934687111634927, 6.6572144665406645, 57.30418421107653, 434.6220534889104, 2829.281102675045, 15114.091238432049, 60116.06910700747, 123761.52018711915, -388714.7814384579, -4761145.897047708, -19579430.57696227]"##),
    (r##"taylor 4 (\x -> 1 / x) 2.0"##, r##"[0.5, -0.25, 0.25, -0.375, 0.75]"##),
    (r##"taylor 3 (\x -> if x > 1 then x ^ 3 else x) 2.0"##, r##"[8.0, 12.0, 12.0, 6.0]"##),
    (r##"taylor 0 sin 0.0"##, r##"[0.0]"##),
    (r##"derivative (\x -> (taylor 2 (\y -> x * y ^ 3) 2.0)[2]) 5.0"##, r##"12.0"##),
    (r##"(taylor 2 (\x -> grad (\y -> x * y ^ 3) x) 2.0)"##, r##"[24.0, 36.0, 36.0]"##),
    (r##"(taylor 1 (\x -> (taylor 1 (\y -> x * x * y) x)[1]) 3.0)"##, r##"[9.0, 6.0]"##),
    (r##"∇ (λ(x, y) → x × y) (2, 3)"##, r##"(3.0, 2.0)"##),
    (r##"∂ (\x -> π * x) 1.0"##, r##"3.141592653589793"##),
    (r##"if 1 ≤ 2 ∧ ¬ (2 ≠ 2) then 1 else 0"##, r##"1"##),
    (r##"norm [3, 4]"##, r##"5.0"##),
    (r##"add (1.0, 2) (3.0, 4)"##, r##"(4.0, 2)"##),
    (r##"inner (1, 2) (3, 4)"##, r##"11.0"##),
    (r##"scale 2 [1, 2]"##, r##"[2.0, 4.0]"##),
    (r##"add (1 : Int) 2"##, r##"1"##),
    (r##"apply_dual (to_dual 2) 3"##, r##"6.0"##),
    (r##"ravel (1, [2])"##, r##"[1.0, 2.0]"##),
    (r##"let v = [3, 4] in (norm v, v)"##, r##"(5.0, [3, 4])"##),
    (r##"let rec go k y = if k == 0 then y else go (k - 1) (add y (scale 0.5 y)) in go 3 1"##, r##"3.375"##),
];

#[test]
fn programs_have_the_values_computed_elsewhere() {
    assert!(PROGRAMS.len() > 250, "the table has shrunk");
    let file = project::scratch("audit").join("definitions.wg");
    project::write(&file, DEFINITIONS);
    let mut failures = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = PROGRAMS
            .chunks(PROGRAMS.len().div_ceil(4))
            .map(|part| scope.spawn(|| check(part, &file)))
            .collect();
        for worker in workers {
            failures.extend(worker.join().expect("a worker does not panic"));
        }
    });
    assert!(failures.is_empty(), "{} programs differ\n{}", failures.len(), failures.join("\n"));
}

fn check(programs: &[(&str, &str)], file: &Path) -> Vec<String> {
    let printed = |expression: &str| {
        everywhere::command(&[expression, "--file", &file.to_string_lossy()]).and_then(|ran| ran.value())
    };
    let differs = |(expression, expected): &(&str, &str)| match printed(expression) {
        Ok(printed) if agrees(&printed, expected) => None,
        Ok(printed) => Some(format!("{expression}\n  expected {expected}\n  printed  {printed}")),
        Err(message) => Some(format!("{expression}\n{message}")),
    };
    programs.iter().filter_map(differs).collect()
}

/// The same text, but for numbers with a point or an exponent, which may differ by rounding.
fn agrees(printed: &str, expected: &str) -> bool {
    let (printed, expected) = (pieces(printed), pieces(expected));
    printed.len() == expected.len()
        && printed.iter().zip(&expected).all(|(a, b)| {
            let reals = b.contains('.') || b.contains('e');
            a == b
                || match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(a), Ok(b)) if reals => (a - b).abs() <= 1e-8 * b.abs().max(1.0),
                    _ => false,
                }
        })
}

/// A text cut into numbers and single characters.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut in_number = false;
    for c in text.chars() {
        let goes_on = c.is_ascii_digit() || (in_number && matches!(c, '.' | 'e' | '-'));
        match pieces.last_mut() {
            Some(last) if in_number && goes_on => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        in_number = goes_on || (c == '-' && !in_number);
    }
    pieces
}

#[test]
fn the_comparison_tells_values_apart() {
    assert!(agrees("(1.0000000001, \"a\")", "(1.0, \"a\")"));
    assert!(!agrees("1.001", "1.0"));
    assert!(!agrees("-1.0", "1.0"));
    assert!(!agrees("2", "3"));
    assert!(!agrees("[1.0]", "[1.0, 2.0]"));
}
