/** All settings of the plain-Node server, so that one error names everything that is wrong with them. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { mcpAccessSettings } from '../../business/mcp/mcpSettings';
import { requireSealingKeys } from '../../business/privacy/privacySettings';
import { readSettings } from './defineSettings';
import { settingSource, valueOf } from './environment';
import type { Environment } from './environment';
import { DEFAULT_HOST_NAME, logSettings, nodeSettings } from './nodeSettings';
import { readIssuer, readOidcSettings } from './oidc';
import { checkVariableNames } from './settingNames';
import { SettingProblems } from './SettingProblems';
import { readHostSettings } from './settingTables';
import { settingsFromEnvironment } from './vendors';

/** @throws LLMInvalidRequestError that names every variable that is invalid or misspelt */
export function readServerSettings(env: Environment) {
  const problems = new SettingProblems();
  const source = settingSource(env);
  const node = readSettings({ ...nodeSettings, ...logSettings, ...mcpAccessSettings }, source, problems);
  const { allowPrivateHosts = false, ...settings } = readHostSettings(source, problems);
  problems.attempt(() => settingsFromEnvironment(env));
  if (settings.sealContent === true) problems.attempt(() => requireSealingKeys(valueOf(env, 'AI_SECRET_KEYS')));
  const mcpIssuer = readIssuer('MCP_AUTHORIZATION_SERVER', node.mcpIssuer, allowPrivateHosts, problems);
  const oidc = problems.attempt(() => readOidcSettings(source, allowPrivateHosts));
  checkVariableNames(env, problems);
  problems.throwIfAny();
  const { token, port = 3000, hostName = DEFAULT_HOST_NAME, rootUrl, mcpUser = 'local', shutdownNoticeMs } = node;
  return {
    token,
    port,
    hostName,
    rootUrl,
    mcpUser,
    mcpIssuer,
    oidc,
    host: { ...settings, ...omitUndefined({ shutdownNoticeMs }), allowPrivateHosts },
  };
}
