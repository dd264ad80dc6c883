//! A page and a picture of a few measurements.

use super::*;

const MEASURED: &str = r#"
{"tool":"manual","eval":"lse","function":"primal","size":"n=1","valid":true,"runs":2,"median":1000,"least":900}
{"tool":"manual","eval":"lse","function":"gradient","size":"n=1","valid":true,"runs":2,"median":2500,"least":900}
{"tool":"wengert","eval":"lse","function":"primal","size":"n=1","valid":true,"runs":2,"median":1000,"least":900}
{"tool":"wengert","eval":"lse","function":"gradient","size":"n=1","valid":true,"runs":2,"median":9000,"least":900}
{"tool":"wengert","eval":"lse","function":"gradient","size":"n=1","valid":true,"runs":2,"median":2000,"least":900}
{"tool":"wengert-4","eval":"lse","function":"gradient","size":"n=1","valid":true,"runs":2,"median":500,"least":400}
{"tool":"wengert","eval":"lse","function":"gradient","size":"n=2","valid":false,"runs":2,"median":1,"least":1}
{"tool":"wengert","eval":"saddle","function":"ff","size":"w=0","valid":true,"runs":2,"median":1234567,"least":1}
{"tool":"manual","eval":"lse","function":"gradient","size":"n=3","error":"it failed"}
"#;

#[test]
fn the_smallest_valid_median_of_each_tool_is_shown() {
    expect_test::expect![[r#"
        ### Derivatives at the largest size

        | eval | size | best other | wengert | to the best |
        |---|---|---|---|---|
        | lse | n=1 | 2.50 µs (manual) | 2.00 µs | 0.80× |

        ### Four cores

        Derivative on one core · on four · so many times as fast.

        | eval | size | wengert |
        |---|---|---|
        | lse | n=1 | 2.00 µs · 500 ns · 4.00× |

        ### lse

        `primal` · `gradient` · ratio.

        | size | wengert | manual |
        |---|---|---|
        | n=1 | 1.00 µs · **2.00 µs** · 2.00× | 1.00 µs · 2.50 µs · 2.50× |

        ![lse](plots/lse.svg)

        ### saddle

        Outer and inner mode, time.

        | size | wengert |
        |---|---|
        | ff | **1.23 ms** |

        ![saddle](plots/saddle.svg)

    "#]]
    .assert_eq(&tables(&Results::read(MEASURED)));
}

#[test]
fn a_picture_has_a_line_for_each_tool() {
    let results = Results::read(MEASURED);
    let picture = plot::picture("lse", &results.evals["lse"], &results.tools);
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    for text in ["wengert", "manual", "n=1", "derivative / primal", "1 µs", "10 µs"] {
        assert!(picture.contains(&format!(">{text}<")), "{text} in {picture}");
    }
}

#[test]
fn times_have_three_digits() {
    let shown = [1, 12, 999, 1_000, 12_345, 999_499, 5_000_000, 12_300_000_000].map(time);
    assert_eq!(shown, ["1.00 ns", "12.0 ns", "999 ns", "1.00 µs", "12.3 µs", "999 µs", "5.00 ms", "12.3 s"]);
}
