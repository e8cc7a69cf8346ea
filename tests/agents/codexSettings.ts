/** The arguments that connect Codex to the gateway. */

export const CODEX = '@openai/codex/bin/codex.js';

/** @param url the gateway's address */
export function codexSettings(url: string, model: string, usesSockets: boolean): readonly string[] {
  const gateway = {
    name: 'Bolide',
    base_url: `${url}/v1`,
    env_key: 'BOLIDE_API_TOKEN',
    wire_api: 'responses',
    supports_websockets: usesSockets,
  };
  const settings = {
    model,
    model_provider: 'bolide',
    ...Object.fromEntries(Object.entries(gateway).map(([key, value]) => [`model_providers.bolide.${key}`, value])),
  };
  return Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]);
}
