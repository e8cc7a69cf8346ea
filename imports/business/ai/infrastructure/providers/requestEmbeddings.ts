/** One attempt to get embeddings from a vendor. */
import { embeddingUsage, estimateEmbeddingUsage, readEmbeddingInputs } from '../../domain/entities/embeddingInput';
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import { EMBEDDING_VENDORS } from '../../domain/errors/noEmbeddings';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { VendorName, WireName } from '../../domain/types/VendorTypes';
import type { VendorClient } from '../clients/VendorClient';
import { VENDOR_ROWS } from '../vendors/vendors';

interface EmbeddingAccount {
  readonly id: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly defaultModel?: string;
}

type WithCredential = <T>(attempt: (credential: Credential | undefined) => Promise<T>) => Promise<T>;

/** @throws UnsupportedFeatureError for a vendor without embeddings; what the client throws */
export async function requestEmbeddings(
  userId: string,
  options: EmbedOptions,
  client: VendorClient,
  { id, vendor, wire, defaultModel }: EmbeddingAccount,
  withCredential: WithCredential,
): Promise<Embeddings> {
  const { input, model: requested, onHead, onRetry: _, origin: __, maxRetryTime: ___, ...fields } = options;
  const { label, embeddingModel } = VENDOR_ROWS[vendor];
  if (client.embed === undefined)
    throw new UnsupportedFeatureError(
      `${label} has no embeddings, so the provider "${id}"${requested === undefined ? '' : ` with the model "${requested}"`} cannot make any. ${EMBEDDING_VENDORS}`,
      { vendor, path: 'model' },
    );
  const model = requested ?? embeddingModel ?? defaultModel;
  if (model === undefined)
    throw new LLMInvalidRequestError(`The provider "${id}" has no default model for embeddings. Name one.`, {
      vendor,
      path: 'model',
    });
  const inputs = readEmbeddingInputs(input);
  const embed = client.embed.bind(client);
  const reply = await withCredential((credential) => embed({ ...fields, model, inputs, credential, userId }));
  const { warnings, response } = reply;
  const { requestId, passthroughHeaders: headers } = response;
  // OpenAI's embeddings have the headers and errors of its other APIs.
  onHead?.({
    wire: wire === 'gemini' || wire === 'interactions' ? 'gemini' : 'chat_completions',
    headers,
    warnings,
    ...omitUndefined({ requestId }),
  });
  return {
    model: reply.model ?? model,
    embeddings: reply.vectors,
    usage: reply.inputTokens === undefined ? estimateEmbeddingUsage({ input }) : embeddingUsage(reply.inputTokens),
    vendor: omitUndefined({ name: vendor, request_id: requestId, warnings }),
  };
}
