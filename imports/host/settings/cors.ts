/** The setting of the origins whose pages may call the API. */
import { checkedOrigin } from '../../api/http/allowOrigins';
import { SettingProblems } from './SettingProblems';

/**
 * CORS_ORIGINS: exact origins, separated by commas. Default: none, so that no page of another origin can call the API.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid origin
 */
export function readCorsOrigins(valueOf: (name: string) => string | undefined): readonly string[] {
  const problems = new SettingProblems();
  const origins = (valueOf('CORS_ORIGINS') ?? '')
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
    .flatMap((origin) => problems.attempt(() => checkedOrigin(origin, 'CORS_ORIGINS')) ?? []);
  problems.throwIfAny();
  return origins;
}
