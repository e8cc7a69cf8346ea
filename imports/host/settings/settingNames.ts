/** The names of all settings, and what a misspelt one may have been meant to be. */
import { LOG_VARIABLES } from '../../log/logLevels';
import type { SettingProblems } from './SettingProblems';
import { VENDOR_SETTINGS } from './vendors';
import type { Environment } from './environment';

/** Also read from `Meteor.settings.ai`, under the same names. */
const SHARED_SETTINGS: readonly string[] = [
  ...VENDOR_SETTINGS,
  'AI_SEAL_CONTENT',
  'AI_MCP_COMMANDS',
  'AI_MCP_SERVERS',
  'AI_TOOL_RULES',
  'API_TOKEN_DAYS',
  'AUDIT_KEEP_DAYS',
  'AUDIT_MAX_ENTRIES',
  'AUTH_FAILURES',
  'AUTH_FAILURES_PER_ADDRESS',
  'CHATS_KEEP_DAYS',
  'CONVERSATIONS_KEEP_DAYS',
  'CORS_ORIGINS',
  'GUARDRAILS',
  'HTTP_FORWARDED_COUNT',
  'JOBS_CONCURRENCY',
  'JOBS_CONCURRENCY_PER_USER',
  'JOBS_ENGINE',
  'MCP_TOOLS',
  'MEMORY_EMBEDDING_MODEL',
  'MEMORY_KEEP_DAYS',
  'MEMORY_MAX_PER_USER',
  'MEMORY_RECALL',
  'MEMORY_TOOLS',
  'MESSAGES_KEEP_DAYS',
  'MONGO_URL',
  'REQUEST_LOG',
  'REQUEST_LOG_BODIES',
  'REQUEST_LOG_BODIES_KEEP_DAYS',
  'REQUEST_LOG_KEEP_DAYS',
  'REQUEST_LOG_MAX_ENTRIES',
  'RESPONSES_KEEP_DAYS',
  'RESPONSE_CACHE',
  'RUNS_KEEP_DAYS',
  'RUNS_KEEP_WHOLE_DAYS',
  'RUNS_TOOL_WAIT_SECONDS',
  'SHUTDOWN_GRACE_SECONDS',
  'STORAGE_MB',
  'STORAGE_MB_PER_USER',
  'USER_CONNECTIONS',
  'USER_PARALLEL_CALLS',
  'USER_QUEUED_MESSAGES',
  'USER_REQUESTS_PER_MINUTE',
  'USER_TOKENS_PER_MINUTE',
];

/** Every environment variable. */
export const VARIABLES: readonly string[] = [
  ...SHARED_SETTINGS,
  ...LOG_VARIABLES,
  'AI_ALLOW_PRIVATE_HOSTS',
  'AI_SECRET_KEYS',
  'BOLIDE_API_TOKEN',
  'BOLIDE_SERVER_URL',
  'DATA_DIR',
  'HOST',
  'HTTP_MAX_BODY_MB',
  'HTTP_MAX_JSON_VALUES',
  'MCP_AUTHORIZATION_SERVER',
  'MCP_USER',
  'OIDC_ADMINS',
  'OIDC_ADMIN_GROUPS',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_GROUPS_CLAIM',
  'OIDC_ISSUER',
  'OIDC_NAME',
  'OIDC_ONLY',
  'OIDC_SCOPES',
  'OIDC_SIGN_OUT',
  'OIDC_USERS',
  'OIDC_USER_GROUPS',
  'OIDC_USER_ID',
  'PORT',
  'ROOT_URL',
  'SHUTDOWN_NOTICE_SECONDS',
];

/** Other programs use these beginnings as well, so that only a name that resembles one of ours is a mistake. */
const PREFIXES =
  /^(?:BOLIDE|AI|LLM|RUNS|JOBS|OIDC|AUDIT|AUTH_FAILURES|REQUEST_LOG|RESPONSE|RESPONSES|CONVERSATIONS|MESSAGES|CHATS|MCP|STORAGE|SHUTDOWN|USER|CORS)_/i;
/** How much of a name may be wrong. Nobody else's variables begin with our own name. */
const TOLERANCE = 1 / 4;
const OWN_TOLERANCE = 1 / 3;

/** Adds a problem for each variable whose name is a misspelt one of ours. */
export function checkVariableNames(env: Environment, problems: SettingProblems): void {
  const known = new Set(VARIABLES);
  for (const name of Object.keys(env)) {
    if (known.has(name) || !PREFIXES.test(name) || (env[name] ?? '') === '') continue;
    const meant = closestName(name, VARIABLES, /^BOLIDE_/i.test(name) ? OWN_TOLERANCE : TOLERANCE);
    // The right one may be set beside it, for another program.
    if (meant !== undefined && !isExtended(name, meant))
      problems.add(name, `${name.slice(0, 100)} is not a variable of the server. Did you mean ${meant}?`);
  }
}

/** `JOBS_ENGINE_URL` is a name of its own. */
function isExtended(name: string, known: string): boolean {
  return name.startsWith(`${known}_`);
}

/** @param fields the names of `Meteor.settings.ai` that are none of environment variables */
export function checkMeteorNames(
  settings: Readonly<Record<string, unknown>>,
  fields: readonly string[],
  problems: SettingProblems,
): void {
  const known = [...fields, ...SHARED_SETTINGS];
  for (const name of Object.keys(settings)) {
    if (known.includes(name)) continue;
    const meant = closestName(name, known, 1 / 2);
    const hint = VARIABLES.includes(name)
      ? 'It is read from the environment only.'
      : meant === undefined
        ? 'Remove it.'
        : `Did you mean ${meant}?`;
    problems.add(`settings.ai.${name}`, `Meteor.settings.ai.${name.slice(0, 100)} is not a setting. ${hint}`);
  }
}

/** @param tolerance the part of the name's characters that may be wrong; two may be in any name */
function closestName(name: string, names: readonly string[], tolerance: number): string | undefined {
  const given = name.toUpperCase();
  let closest: string | undefined;
  let least = Math.max(2, Math.floor(name.length * tolerance)) + 1;
  for (const each of names) {
    const distance = editDistance(given, each.toUpperCase());
    if (distance >= least) continue;
    closest = each;
    least = distance;
  }
  return closest;
}

/** Characters to insert, delete or replace, and neighbours to swap, to turn one into the other. */
export function editDistance(from: string, to: string): number {
  let [before, last] = [[] as number[], Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, next];
  }
  return last[to.length] ?? 0;
}
