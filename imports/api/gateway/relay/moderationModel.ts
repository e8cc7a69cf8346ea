/** Chooses the model of `POST /v1/moderations`. https://platform.openai.com/docs/api-reference/moderations/create */
import { VENDOR_LABELS } from '../../../business/ai/domain/types/VendorTypes';
import type { JsonObject, VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { HttpError } from '../../http/HttpError';
import type { RequestContext } from '../../http/RequestContext';
import type { ModelDirectory } from '../models/ModelDirectory';

/** A compatible host may have moderations, as Mistral does; one that has none says so itself. */
const VENDORS: ReadonlySet<VendorName> = new Set(['openai', 'openai_compatible']);
/** OpenAI's own default. */
const DEFAULT_MODEL = 'omni-moderation-latest';

/**
 * @returns the model that the request names, by default OpenAI's of the first provider with moderations, OpenAI first
 * @throws HttpError 501 if no such provider may be used, or the one that the request names has none
 */
export async function moderationModel(
  { principal }: RequestContext,
  { model }: JsonObject,
  models: ModelDirectory,
): Promise<unknown> {
  const rows = await models.visible(principal);
  const capable = rows.filter(({ vendor }) => VENDORS.has(vendor));
  if (model === undefined || model === null) {
    const first = capable.find(({ vendor }) => vendor === 'openai') ?? capable[0];
    if (first === undefined)
      throw new HttpError(501, `No provider that you may use has moderations. ${ADVICE}`, { path: 'model' });
    return `${first.id}/${DEFAULT_MODEL}`;
  }
  if (typeof model !== 'string') return model;
  const { providerId } = await models.resolve(principal, model, 'chat_completions');
  const vendor = rows.find(({ id }) => id === providerId)?.vendor;
  if (vendor === undefined || VENDORS.has(vendor)) return model;
  const others = capable.length === 0 ? ADVICE : `Use one of: ${capable.map(({ id }) => id).join(', ')}.`;
  throw new HttpError(501, `The provider "${providerId}" (${VENDOR_LABELS[vendor]}) has no moderations. ${others}`, {
    path: 'model',
  });
}

const ADVICE = 'Add a provider of OpenAI, or ask a model for a judgement.';
