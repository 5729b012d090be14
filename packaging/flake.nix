# Nix: `nix build 'git+file:.?dir=packaging'`, `nix run 'git+https://ADDRESS?dir=packaging'`. The lock file is made by the first of these.
{
  description = "Record, decode and steer Linux kernel tracing";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      manifest = (builtins.fromTOML (builtins.readFile ../Cargo.toml)).package;
      systems = [ "x86_64-linux" "aarch64-linux" "riscv64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.name;
          version = manifest.version;
          src = ../.;
          cargoLock.lockFile = ../Cargo.lock;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          RTRACE_COMMIT = self.rev or "unknown";
          # The tests need a kernel of their own: `.ci/run`.
          doCheck = false;
          postInstall = ''
            installManPage man/*
            installShellCompletion --bash --name rtrace completions/rtrace.bash
            installShellCompletion --zsh completions/_rtrace
            installShellCompletion --fish completions/rtrace.fish
            install -D -m 644 docs/reference/skill.md $out/share/doc/rtrace/SKILL.md
          '';
          meta = {
            description = manifest.description;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = manifest.name;
            platforms = pkgs.lib.platforms.linux;
          };
        };
      });
      devShells = each (pkgs: {
        default = pkgs.mkShell { packages = with pkgs; [ cargo rustc clippy rustfmt trace-cmd qemu shellcheck ]; };
      });
    };
}
