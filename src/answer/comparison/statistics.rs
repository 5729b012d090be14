//! The stationary bootstrap (Politis and Romano, 1994).
//! A random generator for resampling: small, and the same everywhere.
//! Holm's correction for several tests.
//! Student's t distribution.

/// Number of draws of each cell of each run.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights(pub Vec<Vec<f64>>);

impl Weights {
    /// Each cell once.
    pub fn once(cells: &[usize]) -> Self {
        Weights(cells.iter().map(|count| vec![1.0; *count]).collect())
    }

    /// Draws as many cells of each run as it has: blocks that begin anywhere, are `length` cells long on average (their
    /// lengths are geometric), and go on at the run's begin where they pass its end.
    pub fn draw(&mut self, length: f64, rng: &mut SplitMix64) {
        for run in &mut self.0 {
            run.fill(0.0);
            let (count, mut at) = (run.len(), 0);
            for drawn in 0..count {
                let begins = drawn == 0 || rng.unit() * length < 1.0;
                at = if begins { rng.below(count) } else { (at + 1) % count };
                run[at] += 1.0;
            }
        }
    }
}

/// SplitMix64: a counter and a mixing function (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
/// Its period is 2^64; it passes BigCrush.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose numbers depend on the seed alone.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// A generator for one purpose: its numbers depend on the seed and the name.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a.
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        SplitMix64(name.as_bytes().iter().fold(seed ^ 0xcbf2_9ce4_8422_2325, fold))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is far below 2^64: the bias is bound / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 up to 1, with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Adjusted probabilities (Holm, 1979), in the order given: rejecting where one is at most alpha makes any false rejection no
/// more likely than alpha, however the tests depend on each other.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let (mut adjusted, mut greatest) = (vec![1.0; order.len()], 0.0f64);
    for (rank, test) in order.iter().enumerate() {
        greatest = greatest.max(((order.len() - rank) as f64 * probabilities[*test]).min(1.0));
        adjusted[*test] = greatest;
    }
    adjusted
}

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

    /// The first numbers of the authors' program with the seed 1234567.
    #[test]
    fn numbers_are_those_of_the_algorithm() {
        let mut rng = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(first, expected);
    }

    #[test]
    fn adjusted() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005, 0.9]);
        let expected = [0.04, 0.09, 0.09, 0.025, 0.9];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert!(holm(&[]).is_empty());
    }

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
