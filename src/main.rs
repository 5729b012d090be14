//! The `rtrace` program: nothing but the call.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
