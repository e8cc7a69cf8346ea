/** What every host has: its HTTP API, its storage, and the hosts that it may call. */
import { checkedOrigin } from '../../api/http/allowOrigins';
import { isHostEntry } from '../../business/ai/infrastructure/clients/http/privateHosts';
import type { PrivateHosts } from '../../business/ai/infrastructure/clients/http/privateHosts';
import { defineSettings, setting, variable } from './defineSettings';
import { SettingProblems } from './SettingProblems';
import { DAYS, entriesOf, integer, list, MEGABYTES, number, onOff, SECONDS, text } from './settingReaders';

/** Milliseconds. With the time to hand runs over, less than the 30 seconds after which Kubernetes kills a container. */
export const DEFAULT_SHUTDOWN_GRACE_MS = 20_000;
/** The most that a shutdown may be told to wait. */
export const MAX_SHUTDOWN_SECONDS = 3_600;

export const hostSettings = defineSettings({
  /** Bodies are read into memory, and no string can be longer. */
  maxBodyBytes: variable('HTTP_MAX_BODY_MB', number({ above: 0, max: 256, unit: MEGABYTES }), '`32`').means(
    'The largest HTTP body and WebSocket message, in megabytes. Also under Meteor.',
  ),
  /** Fewer refuse ordinary requests with tools; one model call has no more than the most. */
  maxJsonValues: variable('HTTP_MAX_JSON_VALUES', integer({ min: 1_000, max: 1_000_000 }), '`100000`').means(
    'The most values in a JSON body or WebSocket message: objects, arrays and their entries. More answer 413, before anything is built of them. Also under Meteor.',
  ),
  authFailures: {
    perAddress: setting('AUTH_FAILURES_PER_ADDRESS', integer({ min: 1 }), '`100`').means(
      '[Invalid tokens](../guides/production.md#callers-without-a-valid-token) per minute from one address, before that address gets 429. Also under Meteor, and in its settings.',
    ),
    total: setting('AUTH_FAILURES', integer({ min: 1 }), '`2000`').means(
      'Invalid tokens per minute from all addresses, before new addresses get 429. Also under Meteor, and in its settings.',
    ),
  },
  tokenLifetimeMs: setting(
    'API_TOKEN_DAYS',
    integer({ min: 1, max: 36_500, unit: DAYS }, { never: 'never' }),
    '`90`',
  ).means(
    'Days for which an API token is valid that is created without `expiresAt`; `never` for tokens that do not expire. Also under Meteor, and in its settings.',
  ),
  forwardedCount: setting('HTTP_FORWARDED_COUNT', integer({ min: 0 }), '`0`').means(
    'How many proxies in front of the server append to `x-forwarded-for`. Without it, the address of a client is that of its connection. Meteor reads the same variable.',
  ),
  corsOrigins: setting('CORS_ORIGINS', origins, 'none').means(
    'Origins, separated by commas, whose [pages may call the API](../guides/http-gateway.md#from-web-pages) with a token: exact ones, such as `https://app.example.com`, without wildcards. Also under Meteor, and in its settings.',
  ),
  shutdownGraceMs: setting(
    'SHUTDOWN_GRACE_SECONDS',
    number({ min: 0, max: MAX_SHUTDOWN_SECONDS, unit: SECONDS }),
    '`20`; under Meteor `6`, in development `1`',
  ).means(
    'How long a [shutdown](../guides/production.md#rolling-deploys) waits for requests, model calls and tools in progress. The process exits at the latest 5 seconds later. Also under Meteor, and in its settings.',
  ),
  allowPrivateHosts: variable('AI_ALLOW_PRIVATE_HOSTS', privateHosts, '`false`').means(
    'Which hosts may be private, or called over `http`, in stored accounts and OAuth metadata: host names, IP addresses and networks, with commas, such as `ollama.lan,10.1.0.0/16` ([private hosts](../guides/providers.md#private-hosts)). `true` permits all, with a warning: for development.',
  ),
});

export const storageSettings = defineSettings({
  storage: {
    perUser: setting(
      'STORAGE_MB_PER_USER',
      number({ above: 0, unit: MEGABYTES }),
      '`100` and `500` in the embedded database, `200` and `2000` in MongoDB',
    ).means(
      'Megabytes of one user: of each kind whose least recently used documents go first, and of all that stays until it is deleted or expires, such as runs and chats ([storage](../guides/production.md#storage)).',
    ),
    total: setting(
      'STORAGE_MB',
      number({ above: 0, unit: MEGABYTES }),
      '`500` in the embedded database, `20000` in MongoDB',
    ).means('Megabytes of all users. Those who store the most lose first.'),
  },
});

export const cacheSettings = defineSettings({
  responseCache: setting('RESPONSE_CACHE', onOff, '`on`').means(
    '`off` answers no request from [the cache](../guides/response-cache.md). With `on`, those that ask for it.',
  ),
});

/** Names every wrong one. */
function origins(given: unknown, name: string): readonly string[] {
  const problems = new SettingProblems();
  const entries = entriesOf(text(given, name)).map((entry) => problems.attempt(() => checkedOrigin(entry, name)));
  problems.throwIfAny();
  return entries.filter((origin) => origin !== undefined);
}

/** `true`, `false`, or which. */
function privateHosts(given: unknown, name: string): PrivateHosts {
  const value = text(given, name);
  if (/^(?:true|1)$/i.test(value)) return true;
  return /^(?:false|0)$/i.test(value) ? false : hostList(given, name);
}

export const hostList = list(
  'true, false, or host names, IP addresses and networks such as 10.1.0.0/16, without schemes and ports',
  isHostEntry,
);

/** @returns a warning if any private address may be called */
export function describePrivateHosts(hosts: PrivateHosts): string | undefined {
  if (hosts !== true) return undefined;
  return 'Warning: AI_ALLOW_PRIVATE_HOSTS is true, so whoever may add an account can make this server call any address of its network. List the hosts instead, as in AI_ALLOW_PRIVATE_HOSTS=ollama.lan,10.1.0.0/16.';
}
