//! The length of the blocks of a bootstrap, chosen from the data.

/// The mean length of blocks for the stationary bootstrap, in cells, at least 1: Politis and White, "Automatic block-length
/// selection for the dependent bootstrap" (2004), with the correction of Patton, Politis and White (2009).
pub fn block_length(values: &[f64]) -> f64 {
    let n = values.len();
    let count = n as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let covariance = |lag: usize| {
        let products = values.iter().zip(values.iter().skip(lag)).map(|(a, b)| (a - mean) * (b - mean));
        products.sum::<f64>() / count
    };
    let variance = covariance(0);
    if n < 8 || variance <= 0.0 {
        return 1.0;
    }
    // Number of consecutive lags below the limit after which only noise is left.
    let quiet = (count.log10().sqrt().ceil() as usize).max(5);
    let limit = 2.0 * (count.log10() / count).sqrt();
    let most = (count.sqrt().ceil() as usize + quiet).min(n - 1);
    let correlations: Vec<f64> = (1..=most).map(|lag| (covariance(lag) / variance).abs()).collect();
    let is_quiet = |from: &usize| correlations.iter().skip(*from).take(quiet).all(|one| *one < limit);
    let last = match (0..most).find(is_quiet) {
        Some(last) => last,
        None => correlations.iter().rposition(|one| *one >= limit).map_or(0, |lag| lag + 1),
    };
    let window = (2 * last).clamp(1, most);
    let (mut sum, mut weighted) = (variance, 0.0);
    for lag in 1..=window {
        let part = lag as f64 / window as f64;
        let weight = if part <= 0.5 { 1.0 } else { 2.0 * (1.0 - part) };
        let both = 2.0 * weight * covariance(lag);
        sum += both;
        weighted += both * lag as f64;
    }
    let spread = 2.0 * sum * sum;
    let greatest = (3.0 * count.sqrt()).min(count / 3.0).ceil();
    if spread <= 0.0 {
        return 1.0;
    }
    (2.0 * weighted * weighted / spread * count).cbrt().clamp(1.0, greatest)
}
