/** The tables of settings, by the headings under which docs/reference/configuration.md has their rows. */
import { auditSettings } from '../../business/audit/auditSettings';
import { guardrailSettings } from '../../business/guardrails/guardrailSettings';
import { budgetSettings } from '../../business/limits/budgetSettings';
import { limitSettings } from '../../business/limits/limitSettings';
import { mcpAccessSettings, mcpSettings } from '../../business/mcp/mcpSettings';
import { memorySettings } from '../../business/memory/memorySettings';
import { privacySettings } from '../../business/privacy/privacySettings';
import { requestLogSettings } from '../../business/requestLog/requestLogSettings';
import { METEOR, readSettings, settingsIn } from './defineSettings';
import type { SettingSource, SettingsTable } from './defineSettings';
import { cacheSettings, hostSettings, storageSettings } from './host';
import { chooseQueue, databaseSettings, jobSettings } from './jobSettings';
import { logSettings, nodeSettings } from './nodeSettings';
import { oidcSettings } from './oidc';
import type { SettingProblems } from './SettingProblems';
import { toolRuleSettings } from './toolRules';
import { meteorSettings } from './meteorSettings';
import { aiFields, routingSettings, telemetrySettings, vendorSettings, VENDOR_NAMES } from './vendors';

export const SETTING_TABLES: Readonly<Record<string, readonly SettingsTable[]>> = {
  'The server': [nodeSettings, databaseSettings, privacySettings, hostSettings, logSettings],
  'Sign-in': [oidcSettings],
  Vendors: [vendorSettings],
  'Limits of users': [limitSettings],
  Budgets: [budgetSettings],
  Routing: [routingSettings],
  'Jobs and retention': [jobSettings],
  'Request log': [requestLogSettings],
  Telemetry: [telemetrySettings],
  'Audit trail': [auditSettings],
  Memory: [memorySettings],
  Storage: [storageSettings],
  'Tools by user': [toolRuleSettings],
  MCP: [mcpSettings, mcpAccessSettings],
  Guardrails: [guardrailSettings],
  'Response cache': [cacheSettings],
  'Meteor settings': [meteorSettings, aiFields],
};

const SETTINGS = Object.values(SETTING_TABLES).flat().flatMap(settingsIn);

/** Every environment variable. */
export const VARIABLES: readonly string[] = [
  ...VENDOR_NAMES,
  ...SETTINGS.filter(({ source }) => source !== 'meteor').map(({ name }) => name),
];

/** Everything that `Meteor.settings.ai` may have. */
export const METEOR_NAMES: readonly string[] = [
  ...VENDOR_NAMES,
  ...SETTINGS.filter(({ source }) => source !== 'environment').map(({ name }) => name.replace(METEOR, '')),
];

/** What a host is made with, in each of its forms: fields of `HostSettings`. */
const HOST_TABLE = {
  ...databaseSettings,
  ...privacySettings,
  ...hostSettings,
  ...limitSettings,
  ...jobSettings,
  ...requestLogSettings,
  ...auditSettings,
  ...memorySettings,
  ...storageSettings,
  ...toolRuleSettings,
  ...mcpSettings,
  ...guardrailSettings,
  ...cacheSettings,
};

/** @param problems receives what is invalid, whose fields are absent then */
export function readHostSettings(valueOf: SettingSource, problems: SettingProblems) {
  const { mongoUrl, jobs, ...settings } = readSettings(HOST_TABLE, valueOf, problems);
  return { ...settings, jobs: chooseQueue(jobs, mongoUrl, problems) };
}
