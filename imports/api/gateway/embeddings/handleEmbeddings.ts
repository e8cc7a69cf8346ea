/** Handles a request for embeddings, in any client's API, with any provider. */
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import type { RouteHandler } from '../../http/RequestContext';
import { sendJson } from '../../http/sendJson';
import type { ModelDirectory } from '../models/ModelDirectory';
import { gatewayOrigin, vendorCall } from '../vendorCall';
import type { VendorCallPorts } from '../vendorCall';
import type { EmbeddingsApi } from './EmbeddingsApi';

export interface EmbeddingsPorts extends VendorCallPorts {
  readonly module: Pick<AIModule, 'manager'>;
  readonly models: ModelDirectory;
}

/** The API of these requests in the log. */
export const EMBEDDINGS = 'embeddings';

export function handleEmbeddings(api: EmbeddingsApi, ports: EmbeddingsPorts): RouteHandler {
  return async (context) => {
    const { principal, request, response, requestId, details } = context;
    const { options, warnings, write } = api.read(request);
    if (options.model !== undefined) details.model = options.model;
    const route = await ports.models.resolve(principal, options.model, api.wire);
    details.provider = route.providerId;
    details.isSameApi = route.wire !== undefined && api.ownWires.includes(route.wire);
    const call = vendorCall(context, api.wire, ports);
    const made = await ports.module.manager.embed(principal.userId, {
      ...options,
      ...call,
      model: route.address,
      origin: gatewayOrigin(EMBEDDINGS, principal, { ...details, requestId }),
      onHead: (head) => call.onHead?.({ ...head, warnings: [...warnings, ...(head.warnings ?? [])] }),
    });
    sendJson(response, write(made));
  };
}
