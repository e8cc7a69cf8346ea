/** All settings of the plain-Node server, so that one error names everything that is wrong with them. */
import { readToolRules } from './toolRules';
import { omitUndefined } from '../../business/ai/domain/omitUndefined';
import { KeyRing } from '../../business/providers/infrastructure/sealing/KeyRing';
import { readAuditLimits } from '../../business/audit/settings/audit';
import { readAuthSettings } from './auth';
import { readCorsOrigins } from './cors';
import { readMemorySettings } from '../../business/memory/settings/memory';
import { readGuardrails } from '../../business/guardrails/settings/guardrails';
import { readAllowPrivateHosts, readApiToken, readBodyLimits, readPort, readRootUrl } from './host';
import { readJobSettings } from './jobs';
import { readMcpIssuer, readMcpSettings, readMcpUser } from '../../business/mcp/settings/mcp';
import { readMcpCommands, readMcpServers } from '../../business/mcp/settings/mcpServers';
import { readOidcSettings } from './oidc';
import { readRequestLogSettings } from '../../business/requestLog/settings/requestLog';
import { readResponseCache } from './responseCache';
import { readContentTimes } from './retention';
import { readSealContent, requireSealingKeys } from '../../business/privacy/settings/sealing';
import { checkVariableNames } from './settingNames';
import { SettingProblems } from './SettingProblems';
import { readShutdownGrace, readShutdownNotice } from './shutdown';
import { readStorageBounds } from './storage';
import { readUserLimits } from '../../business/limits/settings/userLimits';
import { valueOf } from './environment';
import { settingsFromEnvironment } from './vendors';
import type { Environment } from './environment';

export type ServerSettings = ReturnType<typeof readServerSettings>;

/** @throws LLMInvalidRequestError that names every variable that is invalid or misspelt */
export function readServerSettings(env: Environment) {
  const problems = new SettingProblems();
  const named = (name: string): string | undefined => valueOf(env, name);
  const read = <T>(reader: () => T): T => problems.attempt(reader) as T;
  const port = read(() => readPort(env['PORT']));
  const allowPrivateHosts = problems.attempt(() => readAllowPrivateHosts(env)) ?? false;
  const sealContent = read(() => readSealContent(named));
  const secretKeys = named('AI_SECRET_KEYS');
  read(() => settingsFromEnvironment(env));
  read(() => readRootUrl(env, 'localhost', port));
  read(() => secretKeys !== undefined && KeyRing.parse(secretKeys, 'AI_SECRET_KEYS'));
  if (sealContent) read(() => requireSealingKeys(secretKeys));
  const settings = {
    token: read(() => readApiToken(env)),
    port,
    mcpIssuer: read(() => readMcpIssuer(named, allowPrivateHosts)),
    mcpUser: read(() => readMcpUser(named)),
    oidc: read(() => readOidcSettings(named, allowPrivateHosts)),
    host: {
      allowPrivateHosts,
      sealContent,
      contentTimes: read(() => readContentTimes(named)),
      jobs: read(() => readJobSettings(named)),
      requestLog: read(() => readRequestLogSettings(named)),
      auditLimits: read(() => readAuditLimits(named)),
      memory: read(() => readMemorySettings(named)),
      storage: read(() => readStorageBounds(named)),
      userLimits: read(() => readUserLimits(named)),
      responseCache: read(() => readResponseCache(named)),
      mcpCommands: read(() => readMcpCommands(named)),
      mcpServers: read(() => readMcpServers(named('AI_MCP_SERVERS'))),
      mcp: read(() => readMcpSettings(named)),
      toolRules: read(() => readToolRules(named('AI_TOOL_RULES'))),
      guardrails: read(() => readGuardrails(named('GUARDRAILS'))),
      corsOrigins: read(() => readCorsOrigins(named)),
      ...omitUndefined({
        shutdownGraceMs: read(() => readShutdownGrace(named)),
        shutdownNoticeMs: read(() => readShutdownNotice(named)),
      }),
      ...read(() => readAuthSettings(named)),
      ...read(() => readBodyLimits(env)),
    },
  };
  checkVariableNames(env, problems);
  problems.throwIfAny();
  // Whatever could not be read was a problem.
  return settings;
}
