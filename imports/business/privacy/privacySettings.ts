/** Whether users' content is sealed before it is stored. */
import { LLMInvalidRequestError } from '../ai/domain/errors/LLMErrors';
import { defineSettings, setting } from '../../host/settings/defineSettings';
import { onOff } from '../../host/settings/settingReaders';

export const privacySettings = defineSettings({
  sealContent: setting('AI_SEAL_CONTENT', onOff, '`off`').means(
    "`on` seals users' prompts, answers, arguments and results before they are stored, with a [key of each user](../guides/data-protection.md#sealing). Requires `AI_SECRET_KEYS`. Also under Meteor, and in its settings.",
  ),
});

/**
 * A key that is generated lies beside the data, where it protects nothing.
 * @throws LLMInvalidRequestError
 */
export function requireSealingKeys(secretKeys: string | undefined): void {
  if (secretKeys !== undefined) return;
  throw new LLMInvalidRequestError(
    "AI_SEAL_CONTENT is on, which requires AI_SECRET_KEYS, stored apart from the data. Generate a key with: node -p \"'k1:' + crypto.randomBytes(32).toString('base64')\"",
    { path: 'AI_SECRET_KEYS' },
  );
}
