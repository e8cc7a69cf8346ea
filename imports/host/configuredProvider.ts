/** The vendors of a host's settings, as providers. */
import type { ProviderSettings } from '../business/ai/infrastructure/factories/LLMProviderFactory';
import { SYSTEM_OWNER } from '../business/providers/domain/entities/Provider';
import type { Provider } from '../business/providers/domain/entities/Provider';

/** A vendor of the settings in the form that access rules and lists use. Its key is not copied. */
export function toConfiguredProvider(
  { id, vendor, baseURL, deployment, defaultModel, allowedModels, hostedTools }: ProviderSettings,
  access: 'admins' | 'everyone',
): Provider {
  return {
    _id: id,
    name: id,
    vendor,
    auth: { kind: 'api_key' },
    owner: SYSTEM_OWNER,
    access: { kind: access },
    enabled: true,
    createdAt: 0,
    updatedAt: 0,
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(deployment === undefined ? {} : { deployment }),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(allowedModels === undefined ? {} : { allowedModels }),
    ...(hostedTools === undefined ? {} : { hostedTools }),
  };
}
