/** What plain Node has besides: where the server listens and has its data, who is an admin, and what it logs. */
import { KeyRing } from '../../business/providers/infrastructure/sealing/KeyRing';
import { defineSettings, variable } from './defineSettings';
import { MAX_SHUTDOWN_SECONDS } from './host';
import { invalidSetting } from './SettingProblems';
import { choice, httpUrl, integer, number, SECONDS, text } from './settingReaders';

export const DEFAULT_HOST_NAME = '127.0.0.1';

/** Shorter ones could be guessed. */
const MIN_TOKEN_LENGTH = 24;

export const nodeSettings = defineSettings({
  port: variable('PORT', integer({ min: 0, max: 65_535 }), '`3000`').means('Port to listen on; `0` picks a free one.'),
  hostName: variable('HOST', text, '`127.0.0.1`').means('Address to listen on.'),
  rootUrl: variable('ROOT_URL', httpUrl, 'the address it listens on').means(
    'Where browsers reach the app. Needed behind a proxy: OAuth redirects and the session cookie depend on it.',
  ),
  token: variable('BOLIDE_API_TOKEN', adminToken, 'a new token at each start').means(
    'The admin token of the local user, of 24 characters or more. It is never printed.',
  ),
  serverUrl: variable('BOLIDE_SERVER_URL', text, '`http://127.0.0.1:PORT`').means(
    'The server that `npx bolide runs` [asks](../guides/production.md#runs-on-the-command-line). Servers ignore it.',
  ),
  dataDirectory: variable('DATA_DIR', text, '`.data`').means(
    'Directory of the embedded database and of `secret.key`. One process [at a time](../guides/production.md#the-lock-of-data_dir). `npm run data` and `npx bolide data` [check, repair, back up, restore and import](../guides/production.md#backups) it.',
  ),
  secretKeys: variable('AI_SECRET_KEYS', sealingKeys, 'a key in `DATA_DIR/secret.key`').means(
    'Sealing keys, `id:base64,…` with 32 bytes each: the first seals, all open. [How to rotate them](../guides/providers.md#sealing-keys).',
  ),
  shutdownNoticeMs: variable(
    'SHUTDOWN_NOTICE_SECONDS',
    number({ min: 0, max: MAX_SHUTDOWN_SECONDS, unit: SECONDS }),
    '`0`',
  ).means(
    'How long a [shutdown](../guides/production.md#rolling-deploys) first goes on as before, while `/ready` answers 503, so that load balancers leave the process out: longer than they take to notice. Not under Meteor.',
  ),
});

export const logSettings = defineSettings({
  /** The logger reads it: another program's level is no error. */
  logLevel: variable('LOG_LEVEL', text, '`info`').means(
    'The least severe lines to log: `debug`, `info`, `warn`, `error` or `silent`. Also under Meteor and in programs of your own, unless they pass a `logger`.',
  ),
  logFormat: variable(
    'LOG_FORMAT',
    choice(['json', 'pretty']),
    '`pretty` in a terminal and without the package `pino`, else `json`',
  ).means(
    'How a plain-Node server logs: `json` writes [lines of JSON](../guides/observability.md#logs) with levels and ids, `pretty` plain lines.',
  ),
  debug: variable('DEBUG', text, 'none').means('`bolide:*` logs everything, as `LOG_LEVEL=debug` does.'),
});

/** No error quotes the token. */
function adminToken(given: unknown, name: string): string {
  const token = text(given, name);
  if (token.length >= MIN_TOKEN_LENGTH) return token;
  throw invalidSetting(
    name,
    `${name} must have ${MIN_TOKEN_LENGTH} characters or more, because it gives all rights, but has ${token.length}. Generate one with: openssl rand -base64 24`,
  );
}

export function sealingKeys(given: unknown, name: string): string {
  if (typeof given !== 'string') throw invalidSetting(name, `${name} must be a string.`);
  KeyRing.parse(given, name);
  return given;
}

/** A host that listens on all interfaces is reachable as `localhost`. */
export function listenedUrl(hostName: string, port: number): string {
  const isAny = hostName === '0.0.0.0' || hostName === '::';
  const address = isAny ? 'localhost' : hostName.includes(':') ? `[${hostName}]` : hostName;
  return `http://${address}:${port}`;
}
