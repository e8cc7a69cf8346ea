/** The form of an MCP server: its texts, and what they are as fields. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { McpServerView } from '../../business/mcp/domain/McpViews';
import type { McpServerConfig, McpServerSecrets } from '../../business/mcp/domain/McpServer';

/** A server to save or test. `headers` and `env` that are absent stay as they are stored. */
type McpServerInput = McpServerConfig & McpServerSecrets & { readonly name: string; readonly enabled?: boolean };

export interface ServerValues {
  readonly name: string;
  readonly kind: 'url' | 'command';
  readonly url: string;
  readonly command: string;
  /** One per line. */
  readonly args: string;
  /** `name: value` or `NAME=value`, one per line. Empty: what is stored stays. */
  readonly secrets: string;
  /** What is stored is removed. */
  readonly clearsSecrets: boolean;
  /** One per line. */
  readonly allow: string;
  readonly accounts: 'none' | 'user' | 'shared';
  /** The id of a client registered beforehand. */
  readonly clientId: string;
  /** Empty: what is stored stays. */
  readonly clientSecret: string;
  readonly issuer: string;
  /** Vendors that can call the server do. */
  readonly hosted: boolean;
  readonly shareHeaders: boolean;
  readonly enabled: boolean;
}

export function valuesOf(server: McpServerView | undefined): ServerValues {
  return {
    name: server?.name ?? '',
    kind: server?.command === undefined ? 'url' : 'command',
    url: server?.url ?? '',
    command: server?.command ?? '',
    args: (server?.args ?? []).join('\n'),
    secrets: '',
    clearsSecrets: false,
    allow: (server?.allow ?? []).join('\n'),
    accounts: server?.oauth?.accounts ?? 'none',
    clientId: server?.oauth?.clientId ?? '',
    clientSecret: '',
    issuer: server?.oauth?.issuer ?? '',
    hosted: server?.hosted ?? false,
    shareHeaders: server?.shareHeaders ?? false,
    enabled: server?.enabled ?? true,
  };
}

/** @param edited its other settings stay */
export function fieldsOfServer(values: ServerValues, edited: McpServerView | undefined): McpServerInput {
  const { cwd, prefix, deny, deferLoading, timeout, taskTimeout, connectTimeout, maxTools } = edited ?? {};
  const isUrl = values.kind === 'url';
  const secrets = values.clearsSecrets ? {} : readSecrets(values.secrets, isUrl ? ':' : '=');
  return {
    ...omitUndefined({ prefix, deny, deferLoading, timeout, taskTimeout, connectTimeout, maxTools }),
    name: values.name.trim(),
    enabled: values.enabled,
    ...(isUrl
      ? { url: values.url.trim() }
      : omitUndefined({ command: values.command.trim(), args: linesOf(values.args), cwd })),
    ...omitUndefined({ [isUrl ? 'headers' : 'env']: secrets }),
    ...(isUrl ? signInFields(values, edited) : {}),
    ...(isUrl && values.hosted ? { hosted: true, ...(values.shareHeaders ? { shareHeaders: true } : {}) } : {}),
    ...(values.allow.trim() === '' ? {} : { allow: linesOf(values.allow) }),
  };
}

function signInFields(values: ServerValues, edited: McpServerView | undefined): Partial<McpServerInput> {
  if (values.accounts === 'none') return {};
  const [clientId, issuer, clientSecret] = [values.clientId, values.issuer, values.clientSecret].map((each) =>
    each.trim() === '' ? undefined : each.trim(),
  );
  const { clientMetadataUrl } = edited?.oauth ?? {};
  return omitUndefined({
    oauth: omitUndefined({ accounts: values.accounts, clientId, issuer, clientMetadataUrl }),
    clientSecret,
  });
}

/** @returns undefined for none. A line without the separator is a name with an empty value. */
function readSecrets(text: string, separator: string): Readonly<Record<string, string>> | undefined {
  const lines = linesOf(text);
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((each) => {
      const at = each.indexOf(separator);
      return at === -1 ? [each, ''] : [each.slice(0, at).trim(), each.slice(at + 1).trim()];
    }),
  );
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
