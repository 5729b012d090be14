//! Student's t distribution.

/// ln of the gamma function, by Lanczos' approximation (g = 7, nine terms): 15 digits.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let terms = TERMS.iter().zip(1u32..).map(|(term, n)| term / (x + f64::from(n)));
    let sum = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut fraction) = (1.0, d);
    for m in 1..=500u32 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + step * d);
            c = away_from_zero(1.0 + step / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// The probability of a value beyond `t` on either side, with `df` degrees of freedom.
pub fn student_tail(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(df / 2.0, 0.5, df / (df + t * t))
}

/// The value that is exceeded, on either side, with the probability `tail`.
pub fn student_quantile(tail: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_tail(high, df) > tail && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if student_tail(middle, df) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms() {
        for t in [0.0f64, 0.3, 1.0, 2.5, 12.0, 300.0] {
            let one = 1.0 - 2.0 / std::f64::consts::PI * t.atan();
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            let angle = (t / 2.0).atan(); // with four degrees of freedom
            let four = 1.0 - angle.sin() * (1.0 + angle.cos().powi(2) / 2.0);
            for (df, expected) in [(1.0, one), (2.0, two), (4.0, four)] {
                assert!((student_tail(t, df) - expected).abs() < 1e-12, "{t} with {df}: {}", student_tail(t, df));
            }
        }
    }

    /// From printed tables.
    #[test]
    fn tables() {
        for (tail, df, expected) in
            [(0.05, 1.0, 12.706), (0.05, 8.0, 2.306), (0.01, 10.0, 3.169), (0.001, 30.0, 3.646), (0.05, 1e9, 1.960)]
        {
            assert!((student_quantile(tail, df) - expected).abs() < 6e-4, "{tail} with {df}");
        }
    }
}
