//! Holm's correction for several tests.

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

#[cfg(test)]
mod tests {
    use super::holm;

    #[test]
    fn adjusted() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005, 0.9]);
        let expected = [0.04, 0.09, 0.09, 0.025, 0.9];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert!(holm(&[]).is_empty());
    }
}
