//! Where keys, passwords, letters and histories usually lie: what no command may read.

use std::path::{Path, PathBuf};

use stepwell_workspace::files;

/// Files and folders below the home folder, by kind.
const BELOW_HOME: &[&str] = &[
    // Keys and identities.
    ".ssh .gnupg .pki .password-store .local/share/keyrings .local/share/kwalletd .vault-token .step .age .minisign \
     .config/age .config/sops .sops .config/op .op .config/Bitwarden .config/1Password \
     .config/keepassxc .cache/keepassxc .config/Yubico .yubico .tpm2_pkcs11 .config/browserpass .config/gopass \
     .local/share/gopass .lastpass .local/share/lpass .config/rbw .cache/rbw .krb5 .k5login",
    // Clouds and clusters.
    ".aws .azure .kube .docker .oci .bluemix .aliyun .tccli .hcloud .linode-cli .scw .vultr-cli.yaml .fly .heroku \
     .netlify .vercel .railway .terraform.d .terraformrc .pulumi .minikube/profiles .config/gcloud .config/hcloud \
     .config/doctl .config/linode-cli .config/scw .config/flyctl .config/configstore .config/netlify .config/vercel \
     .config/railway .config/wrangler .wrangler .config/.wrangler .config/pulumi .config/helm .config/k9s \
     .config/containers .config/podman .local/share/containers .config/openstack .config/rclone .rclone.conf .s3cfg \
     .boto .passwd-s3fs .mc .config/argocd .argocd .config/teleport .tsh .config/cloudflared .cloudflared \
     .config/ngrok .ngrok2 .config/tailscale .wgetrc .snowsql .snowflake .databrickscfg .config/databricks",
    // Code hosts, registries and build tools.
    ".netrc _netrc .authinfo .authinfo.gpg .git-credentials .git-credential-cache .config/git/credentials .config/gh \
     .config/hub .config/glab-cli .config/tea .config/jj/credentials .npmrc .yarnrc .yarnrc.yml .config/pnpm/rc .pypirc \
     .config/pypoetry/auth.toml .local/share/uv/credentials .config/pip/pip.conf .pip/pip.conf .cargo/credentials \
     .cargo/credentials.toml .gem/credentials .local/share/gem/credentials .bundle/config .m2/settings.xml \
     .m2/settings-security.xml .gradle/gradle.properties .ivy2/.credentials .sbt/.credentials .composer/auth.json \
     .config/composer/auth.json .nuget/NuGet .config/NuGet .hex/hex.config .cabal/config .stack/config.yaml .condarc \
     .huggingface .cache/huggingface/token .cache/huggingface/stored_tokens .config/huggingface .kaggle \
     .config/kaggle .wandb .config/wandb .config/replicate .modal.toml .streamlit/secrets.toml .jupyter \
     .local/share/jupyter/runtime .sentryclirc .circleci .travis .config/act .ansible .vagrant.d/data",
    // Databases.
    ".pgpass .pg_service.conf .my.cnf .mylogin.cnf .mongorc.js .mongodb .rediscli_auth .config/dbeaver \
     .local/share/DBeaverData .dbt .sqlcmdrc .odbc.ini .cassandra",
    // Other agents.
    ".config/stepwell .local/share/stepwell .claude/.credentials.json .claude.json .codex/auth.json \
     .gemini/oauth_creds.json .gemini/google_accounts.json .local/share/opencode/auth.json .config/opencode/auth.json \
     .aider.conf.yml .config/github-copilot .config/goose/secrets.yaml .continue/config.json .cursor/mcp.json \
     .config/io.datasette.llm .config/openai .config/anthropic .openai .cody .config/zed/credentials",
    // Browsers, mail and chat.
    ".mozilla .thunderbird .config/google-chrome .config/google-chrome-beta .config/chromium .config/BraveSoftware \
     .config/microsoft-edge .config/vivaldi .config/opera .config/librewolf .librewolf .waterfox .zen .config/falkon \
     .local/share/epiphany .local/share/qutebrowser .cache/mozilla .cache/google-chrome .cache/chromium \
     snap/firefox snap/chromium .var/app .config/Slack .config/discord .config/Signal .config/Element .config/teams \
     .config/evolution .local/share/evolution .local/share/TelegramDesktop .config/neomutt .config/mutt .muttrc .mutt \
     .mbsyncrc .msmtprc .offlineimaprc .fetchmailrc .config/msmtp .mail .maildir Mail Maildir",
    // Files that mount or sync other machines' files.
    ".smbcredentials .davfs2 .config/davfs2 .config/syncthing .local/state/syncthing .dropbox .config/Nextcloud \
     .config/remmina .local/share/remmina .config/filezilla .lftp .config/lftp .vnc .config/tigervnc",
];

/// Names directly below the home folder, by their endings and parts.
const ENDINGS: &[&str] =
    &["_history", ".history", "-history", "_hist", ".pem", ".key", ".p12", ".pfx", ".kdbx", ".jks", ".ovpn"];
const BEGINNINGS: &[&str] = &[".history", ".lesshst", ".viminfo", ".zhistory", ".histfile", ".env"];
const PARTS: &[&str] =
    &["credential", "secret", "password", "passwd", "token", "apikey", "api_key", "api-key", "private_key"];
/// Folders whose entries are looked at in the same way.
const LOOKED_INTO: &[&str] = &["", ".config", ".local/share", ".local/state", ".cache"];
/// Shells and programs that keep what was typed deeper down.
const HISTORIES: &[&str] = &[
    ".config/fish/fish_history",
    ".local/share/fish/fish_history",
    ".local/share/atuin",
    ".config/atuin",
    ".local/share/mcfly",
    ".config/nushell/history.txt",
    ".config/nushell/history.sqlite3",
    ".local/share/powershell/PSReadLine",
    ".local/state/bash/history",
    ".local/state/zsh/history",
    ".local/share/zsh/history",
    ".cache/zsh/history",
    ".ipython/profile_default/history.sqlite",
    ".julia/logs",
    ".local/share/nvim/shada",
    ".local/state/nvim/shada",
];
/// Readable by root alone, which some machines work as.
const OF_THE_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/krb5.keytab",
];

/// Everything private of the machine and of a home folder, whether it is there or not.
pub fn places(home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = OF_THE_MACHINE.iter().map(PathBuf::from).collect();
    let Some(home) = home else { return found };
    let named = BELOW_HOME.iter().flat_map(|names| names.split_whitespace());
    found.extend(named.chain(HISTORIES.iter().copied()).map(|name| home.join(name)));
    for folder in LOOKED_INTO {
        let entries = files::list_dir(&home.join(folder)).unwrap_or_default();
        found.extend(entries.into_iter().filter(|path| is_private(path)));
    }
    found
}

/// Whether a name says that the file or folder holds secrets. Only hidden ones and plain files of known kinds: a project
/// called `token-ring` in the home folder stays.
fn is_private(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let name = name.to_lowercase();
    let is_hidden = name.starts_with('.');
    // The name decides first: a home may have thousands of entries, and each look at a file costs.
    ENDINGS.iter().any(|end| name.ends_with(end)) && path.is_file()
        || is_hidden && BEGINNINGS.iter().any(|start| name.starts_with(start))
        || PARTS.iter().any(|part| name.contains(part)) && (is_hidden || path.is_file())
}
