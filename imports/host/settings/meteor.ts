/** `Meteor.settings.ai`, validated completely before anything is opened or created. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../business/ai/domain/json';
import type { PrivateHosts } from '../../business/ai/infrastructure/clients/http/privateHosts';
import type { AISettings } from '../../business/ai/infrastructure/factories/createAIModule';
import type { CallLimits } from '../../business/ai/infrastructure/factories/createRunOperations';
import type { RequestLogSettings } from '../../business/requestLog/createRequestLog';
import type { UserLimits } from '../../business/limits/domain/UserLimits';
import type { RetentionTime } from '../../database/StoredCollection';
import type { StorageBounds } from '../../database/bounds/StorageBounds';
import { KeyRing } from '../../business/providers/infrastructure/sealing/KeyRing';
import { readAuditLimits } from '../../business/audit/settings/audit';
import type { AuditLimits } from '../../business/audit/infrastructure/DocumentAuditStore';
import { readAuthSettings } from './auth';
import type { AuthSettings } from './auth';
import { checkedHosts, readAllowPrivateHosts, readBodyLimits } from './host';
import { readCorsOrigins } from './cors';
import { readJobSettings } from './jobs';
import type { JobSettings } from './jobs';
import { findPlaceholders } from './placeholders';
import type { Guardrail } from '../../business/ai/domain/interfaces/Guardrail';
import { readGuardrails } from '../../business/guardrails/settings/guardrails';
import { readResponseCache } from './responseCache';
import type { ConfiguredServer } from '../../business/mcp/infrastructure/managed/ConfiguredServer';
import { readMcpSettings } from '../../business/mcp/settings/mcp';
import type { McpSettings } from '../../business/mcp/settings/mcp';
import { readMcpCommands, readMcpServers } from '../../business/mcp/settings/mcpServers';
import { readMemorySettings } from '../../business/memory/settings/memory';
import type { MemorySettings } from '../../business/memory/settings/memory';
import { readRequestLogSettings } from '../../business/requestLog/settings/requestLog';
import { readContentTimes } from './retention';
import { readSealContent } from '../../business/privacy/settings/sealing';
import { readShutdownGrace } from './shutdown';
import { readStorageBounds } from './storage';
import { readToolRules } from './toolRules';
import type { ToolRule } from '../../business/ai/domain/entities/toolRules';
import { omitUndefined } from '../../business/ai/domain/omitUndefined';
import { readUserLimits } from '../../business/limits/settings/userLimits';
import { checkMeteorNames, checkVariableNames } from './settingNames';
import { SettingProblems } from './SettingProblems';
import { valueOf } from './environment';
import { settingsFromMeteor } from './vendors';
import type { Environment } from './environment';

export interface FirstUser {
  readonly email: string;
  readonly password: string;
}

export interface MeteorSettings extends AuthSettings {
  readonly ai: AISettings;
  readonly secretKeys: string;
  /** User ids and verified e-mail addresses. */
  readonly admins: readonly string[];
  /** Users with one of these roles are admins, too. */
  readonly adminRoles: readonly string[];
  /** Created while there are no users. */
  readonly firstUser?: FirstUser;
  /** Whether people may create accounts themselves. Absent: as the app has it. */
  readonly allowSignUp?: boolean;
  readonly allowPrivateHosts: PrivateHosts;
  /** Calls per user and minute, for all processes together. */
  readonly callLimits: Partial<CallLimits>;
  readonly userLimits: Partial<UserLimits>;
  readonly jobs: JobSettings;
  readonly requestLog: RequestLogSettings;
  readonly auditLimits: AuditLimits;
  readonly memory: MemorySettings;
  readonly mcpServers: readonly ConfiguredServer[];
  readonly mcpCommands: boolean;
  readonly mcp?: McpSettings;
  readonly toolRules: readonly ToolRule[];
  readonly storage: Partial<StorageBounds>;
  readonly maxBodyBytes?: number;
  readonly maxJsonValues?: number;
  readonly corsOrigins: readonly string[];
  readonly responseCache: boolean;
  readonly sealContent: boolean;
  readonly contentTimes: Partial<Record<RetentionTime, number>>;
  readonly guardrails: readonly Guardrail[];
  readonly shutdownGraceMs?: number;
}

/** The fields of `Meteor.settings.ai` besides those that are named like environment variables. */
export const METEOR_FIELDS = [
  'secrets',
  'admins',
  'adminRoles',
  'firstUser',
  'allowSignUp',
  'allowPrivateHosts',
  'sealContent',
  'callsPerMinute',
  'budgets',
  'routing',
  'models',
] as const;
type FieldName = (typeof METEOR_FIELDS)[number];
type Fields = { readonly [Name in FieldName]?: unknown };

const NO_AI: AISettings = { providers: [] };

/**
 * @param given the untrusted value of `Meteor.settings.ai`; the environment supplies the variables missing there
 * @throws LLMInvalidRequestError that lists everything that is missing or invalid
 */
export function readMeteorSettings(given: unknown, env: Environment): MeteorSettings {
  if (given !== undefined && given !== null && !isObject(given))
    throw new LLMInvalidRequestError('Meteor.settings.ai must be an object.', { path: 'settings.ai' });
  const settings: Fields = given ?? {};
  const problems = new SettingProblems();
  for (const path of findPlaceholders(settings))
    problems.add(
      `settings.ai.${path}`,
      `Meteor.settings.ai.${path} still has the value of settings.example.json. Replace or remove it.`,
    );
  checkMeteorNames(settings, METEOR_FIELDS, problems);
  checkVariableNames(env, problems);
  const ai = problems.attempt(() => settingsFromMeteor(settings, env)) ?? NO_AI;
  const secretKeys = readSecretKeys(settings.secrets, env, problems);
  const admins = readNames(settings, 'admins', 'user ids and e-mail addresses', problems);
  const adminRoles = readNames(settings, 'adminRoles', 'roles', problems);
  const firstUser = readFirstUser(settings.firstUser, problems);
  const allowSignUp = readBoolean(settings, 'allowSignUp', problems);
  const allowPrivateHosts =
    readPrivateHosts(settings, problems) ?? problems.attempt(() => readAllowPrivateHosts(env)) ?? false;
  const callLimits = readCallLimits(settings.callsPerMinute, problems);
  const named = (name: string): string | undefined => settingOf(given, name) ?? valueOf(env, name);
  const jobs = problems.attempt(() => readJobSettings(named)) ?? {};
  const requestLog = problems.attempt(() => readRequestLogSettings(named)) ?? {};
  const memory = problems.attempt(() => readMemorySettings(named)) ?? {};
  const auditLimits = problems.attempt(() => readAuditLimits(named)) ?? {};
  const userLimits = problems.attempt(() => readUserLimits(named)) ?? {};
  const shutdownGraceMs = problems.attempt(() => readShutdownGrace(named));
  const storage = problems.attempt(() => readStorageBounds(named)) ?? {};
  const json = (name: string): unknown => jsonIn(given, name) ?? valueOf(env, name);
  const guardrails = problems.attempt(() => readGuardrails(json('GUARDRAILS'))) ?? [];
  const mcpServers = problems.attempt(() => readMcpServers(json('AI_MCP_SERVERS'))) ?? [];
  const mcpCommands = problems.attempt(() => readMcpCommands(named)) ?? false;
  const mcp = problems.attempt(() => readMcpSettings(named));
  const toolRules = problems.attempt(() => readToolRules(json('AI_TOOL_RULES'))) ?? [];
  const responseCache = problems.attempt(() => readResponseCache(named)) ?? true;
  const contentTimes = problems.attempt(() => readContentTimes(named)) ?? {};
  const sealContent =
    readBoolean(settings, 'sealContent', problems) ?? problems.attempt(() => readSealContent(named)) ?? false;
  const corsOrigins = problems.attempt(() => readCorsOrigins(named)) ?? [];
  const auth = problems.attempt(() => readAuthSettings(named)) ?? {};
  const bodyLimits = problems.attempt(() => readBodyLimits(env)) ?? {};
  problems.throwIfAny();
  return omitUndefined({
    ai,
    secretKeys,
    admins,
    adminRoles,
    allowPrivateHosts,
    callLimits,
    userLimits,
    jobs,
    requestLog,
    auditLimits,
    memory,
    storage,
    corsOrigins,
    responseCache,
    sealContent,
    contentTimes,
    guardrails,
    mcpServers,
    mcpCommands,
    toolRules,
    mcp,
    ...auth,
    firstUser,
    allowSignUp,
    ...bodyLimits,
    shutdownGraceMs,
  });
}

/** @returns '' if the problem is added */
function readSecretKeys(given: unknown, env: Environment, problems: SettingProblems): string {
  const path = 'settings.ai.secrets';
  const isUnset = given === undefined || given === null || given === '';
  const keys = isUnset ? valueOf(env, 'AI_SECRET_KEYS') : given;
  if (typeof keys !== 'string') {
    problems.add(path, isUnset ? NO_SECRETS : 'Meteor.settings.ai.secrets must be a string.');
    return '';
  }
  if (!problems.has(path))
    problems.attempt(() => KeyRing.parse(keys, isUnset ? 'AI_SECRET_KEYS' : 'Meteor.settings.ai.secrets'));
  return keys;
}

function readNames(settings: Fields, field: FieldName, what: string, problems: SettingProblems): readonly string[] {
  const value = settings[field] ?? [];
  if (Array.isArray(value) && value.every((name): name is string => typeof name === 'string' && name !== ''))
    return value;
  problems.add(`settings.ai.${field}`, `Meteor.settings.ai.${field} must be a list of ${what}.`);
  return [];
}

function readBoolean(settings: Fields, field: FieldName, problems: SettingProblems): boolean | undefined {
  const value = settings[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  problems.add(`settings.ai.${field}`, `Meteor.settings.ai.${field} must be true or false.`);
  return undefined;
}

function readPrivateHosts(settings: Fields, problems: SettingProblems): PrivateHosts | undefined {
  const value = settings.allowPrivateHosts;
  if (!isList(value) || !value.every((host) => typeof host === 'string'))
    return readBoolean(settings, 'allowPrivateHosts', problems);
  return problems.attempt(() => checkedHosts(value, 'Meteor.settings.ai.allowPrivateHosts'));
}

function readFirstUser(given: unknown, problems: SettingProblems): FirstUser | undefined {
  if (given === undefined || given === null) return undefined;
  const { email, password } = isObject(given) ? given : {};
  if (typeof email !== 'string' || !/^[^\s@]+@[^\s@]+$/.test(email)) {
    problems.add('settings.ai.firstUser.email', 'Meteor.settings.ai.firstUser.email must be an e-mail address.');
    return undefined;
  }
  if (typeof password !== 'string' || password.length < 12) {
    problems.add(
      'settings.ai.firstUser.password',
      'Meteor.settings.ai.firstUser.password must have 12 characters or more.',
    );
    return undefined;
  }
  return { email, password };
}

function readCallLimits(given: unknown, problems: SettingProblems): Partial<CallLimits> {
  if (given === undefined || given === null) return {};
  const kinds: readonly string[] = ['model', 'command'] satisfies (keyof CallLimits)[];
  const isValid =
    isObject(given) &&
    Object.entries(given).every(
      ([kind, most]) => kinds.includes(kind) && typeof most === 'number' && Number.isSafeInteger(most) && most > 0,
    );
  if (isValid) return given;
  problems.add(
    'settings.ai.callsPerMinute',
    'Meteor.settings.ai.callsPerMinute must be an object { model?, command? } of positive integers.',
  );
  return {};
}

/** JSON, as in the environment, or what it stands for. */
function jsonIn(settings: unknown, name: string): unknown {
  return isObject(settings) ? (settings[name] ?? undefined) : undefined;
}

/** A setting with the name of an environment variable. */
function settingOf(settings: unknown, name: string): string | undefined {
  const value = isObject(settings) ? settings[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

const NO_SECRETS =
  'Set Meteor.settings.ai.secrets or AI_SECRET_KEYS. The vendors’ API keys and tokens are sealed with it before they are stored, and all processes of the app ' +
  "need the same value. Generate one with: node -p \"'k1:' + crypto.randomBytes(32).toString('base64')\"";
