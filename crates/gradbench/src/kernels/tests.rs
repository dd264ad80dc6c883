//! The page of a few measurements, and the program of many lines.

use super::*;
use std::time::Duration;

fn time(median: f64, compile: Option<f64>) -> Option<Time> {
    Some(Time { median, compile, result: vec![1.0] })
}

fn measured() -> Measured {
    let faster = [
        [time(1000.0, None), time(2000.0, None)],
        [time(500.0, Some(60.0)), time(1500.0, Some(70.0))],
        [time(1000.0, Some(1.0)), time(8000.0, Some(2.5))],
    ];
    let alone = [[None, None], [None, None], [time(1.0, Some(1.0)), time(2.0, Some(3.0))]];
    let wrong = vec!["primal: C++ gives [1.0], wengert gives [2.0]".to_string()];
    let [first, second, ..] = &KERNELS;
    Measured {
        short: SHORT
            .iter()
            .take(1)
            .map(|kernel| (kernel, Row { times: faster.clone(), complaints: Vec::new() }))
            .collect(),
        rows: vec![
            (first, Row { times: faster, complaints: Vec::new() }),
            (second, Row { times: alone, complaints: wrong }),
        ],
        latency: latency::Latency {
            lines: 1000,
            check: Duration::from_millis(20),
            primal: Duration::from_millis(30),
            gradient: Duration::from_millis(40),
        },
        compiler: Ok("g++ 1 -O3".into()),
    }
}

#[test]
fn the_page_has_every_ratio_and_says_where_we_lose() {
    let text = page::text(&measured());
    for part in [
        "| chain | exp, log, tanh, sin of each element, added up | 500 ns | 1.50 µs | 0.50× | 0.75× | 3.00× | 2.00× | 70.0 ms |",
        "| chain | exp, log, tanh, sin of each element, added up | 1.00 µs | 8.00 µs | 1.00× | 4.00× | 8.00× | 2.00× | 2.50 ms |",
        "| logsumexp | of rows of 1000 | 1.00 ns | 2.00 ns | – | – | 2.00× | – | 3.00 ms |",
        "\nNever more than 1.2 times C++.\n",
        "\nMore than 1.2 times C++ in 1 of 34, worst first: chain gradient 4.00×.\n",
        "checked in 20.0 ms, machine code of the function that needs all of it in 30.0 ms, of its gradient in 40.0 ms.",
        "**logsumexp is wrong.** primal: C++ gives [1.0], wengert gives [2.0]",
        "| chain | 10000 | 500 ns | 1.50 µs | 0.50× | 0.75× | 3.00× | 1.00 µs | 8.00 µs | 1.00× | 4.00× | 8.00× | 2.00× |",
        "By hand: g++ 1 -O3.",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn results_agree_but_for_rounding() {
    assert!(agree(&[1e6, 0.3, -197.81832717098987], &[1e6, 0.3, -197.81832717098]));
    assert!(!agree(&[1e6, 0.3, -197.8183], &[1e6, 0.3, -197.8193]));
    assert!(!agree(&[1.0], &[1.0, 2.0]));
    assert!(!agree(&[1.0], &[f64::NAN]));
}

#[test]
fn the_shortest_of_all_rounds_counts() {
    let mut known = time(10.0, Some(5.0));
    known.merge(Time { median: 12.0, compile: Some(0.1), result: vec![1.0] });
    assert_eq!(known, time(10.0, Some(5.0)));
    known.merge(Time { median: 8.0, compile: Some(0.1), result: vec![1.0] });
    assert_eq!(known, time(8.0, Some(5.0)));
}

#[test]
fn the_program_of_many_lines_has_a_thousand_and_a_gradient() {
    let program = latency::program(1_000);
    assert!((990..=1_010).contains(&program.lines().count()), "{}", program.lines().count());
    let latency = latency::measure(1).expect("it compiles");
    assert!(latency.check > Duration::ZERO && latency.gradient > Duration::ZERO);
}
