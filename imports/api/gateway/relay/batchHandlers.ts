/**
 * Creates batches. Their requests are held to the rules of single ones: the models of the provider, and the caller's
 * own files, threads and containers.
 */
import { BudgetError, LLMModelNotFoundError } from '../../../business/ai/domain/errors/LLMErrors';
import { invalid } from '../../../business/ai/domain/util/arguments';
import { isList, isObject } from '../../../business/ai/domain/util/json';
import type { RelayRequest } from '../../../business/ai/domain/types/RelayTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { hasScope } from '../../auth/ApiPrincipal';
import type { ApiPrincipal } from '../../auth/ApiPrincipal';
import { HttpError } from '../../http/HttpError';
import type { RequestContext, RouteHandler } from '../../http/RequestContext';
import type { ModelDirectory, ProviderRow } from '../models/ModelDirectory';
import { requestTo, sendCreated } from './collectionHandlers';
import type { CollectionPorts } from './collectionHandlers';
import type { CheckedRequest } from '../VendorObjectGuard';
import { readJsonLines } from './readJsonLines';
import type { RelayTarget } from './RelayProviders';
import { MESSAGE_BATCHES, OPENAI_BATCHES } from './VendorCollection';
import type { VendorCollection } from './VendorCollection';

export interface BatchPorts extends CollectionPorts {
  readonly module: Pick<AIModule, 'budgetPolicy' | 'apiTokens'>;
  readonly models: Pick<ModelDirectory, 'assertPermitted'>;
}

/** `POST /v1/batches`. https://platform.openai.com/docs/api-reference/batch/create */
export function createBatch(ports: BatchPorts): RouteHandler {
  return async (context) => {
    const { principal, request, signal } = context;
    const body: unknown = request.body;
    const fileId = isObject(body) ? body['input_file_id'] : undefined;
    if (!isObject(body)) throw invalid('', 'must be an object');
    if (typeof fileId !== 'string' || /^\.{0,2}$/.test(fileId))
      throw invalid('input_file_id', 'must be the id of a file');
    await assertUncounted(principal, ports);
    const file = await ports.vendorObjects.locate(principal, 'File', fileId, 'input_file_id');
    const target = await ports.providers.choose(context, OPENAI_BATCHES.family, file.providerId);
    const { allowedModels } = target.row;
    if (!hasScope(principal, 'admin') || allowedModels !== undefined || principal.token?.models !== undefined) {
      const path = `/files/${encodeURIComponent(fileId)}/content`;
      const account = { providerId: target.row.id, isOwnAccount: false };
      const onSend: RelayRequest['onSend'] = (sending) => {
        account.isOwnAccount = sending.isOwnAccount;
        return file.onSend(sending);
      };
      const content = await target.relay({ method: 'get', path, signal, onSend });
      for await (const { line, value } of readJsonLines(content.body)) {
        const batched = { row: target.row, path: `line ${line}` };
        const checked = checkModel(principal, isObject(value) ? value['body'] : undefined, batched, ports);
        // A line names the API itself, and not reliably.
        for (const form of OPENAI_FORMS)
          await ports.vendorObjects.checkRequest(principal, {
            ...{ ...account, form, forms: OPENAI_FORMS, request: checked, path: batched.path },
          });
      }
    }
    await send(context, OPENAI_BATCHES, target, body, { ...ports, onSend: file.onSend });
  };
}

const OPENAI_FORMS = ['responses', 'chat_completions', 'media'] as const;

/** `POST /v1/messages/batches`. https://platform.claude.com/docs/en/api/creating-message-batches */
export function createMessageBatch(ports: BatchPorts): RouteHandler {
  return async (context) => {
    const { principal, request } = context;
    const body: unknown = request.body;
    if (!isObject(body)) throw invalid('', 'must be an object');
    const { requests } = body;
    if (!isList(requests) || requests.length === 0) throw invalid('requests', 'must be a list of requests');
    await assertUncounted(principal, ports);
    const target = await ports.providers.choose(context, MESSAGE_BATCHES.family);
    const sent: JsonObject[] = [];
    const named: CheckedRequest[] = [];
    for (const [index, each] of requests.entries()) {
      const params = isObject(each) ? each['params'] : undefined;
      if (!isObject(each) || !isObject(params)) throw invalid(`requests[${index}].params`, 'must be an object');
      const path = `requests[${index}].params`;
      const checked = checkModel(principal, params, { row: target.row, path }, ports);
      named.push({ providerId: target.row.id, isOwnAccount: false, form: 'anthropic_messages', request: params, path });
      sent.push({ ...each, params: checked });
    }
    const onSend: RelayRequest['onSend'] = async ({ isOwnAccount }) => {
      for (const each of named) await ports.vendorObjects.checkRequest(principal, { ...each, isOwnAccount });
    };
    await send(context, MESSAGE_BATCHES, target, { ...body, requests: sent }, { ...ports, onSend });
  };
}

async function send(
  context: RequestContext,
  collection: VendorCollection,
  target: RelayTarget,
  body: JsonObject,
  { onSend, ...ports }: CollectionPorts & { readonly onSend: NonNullable<RelayRequest['onSend']> },
): Promise<void> {
  const shared = requestTo(context, collection);
  const relayed = await target.relay({
    ...shared,
    method: 'post',
    headers: { ...shared.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    onSend,
  });
  await sendCreated(context, collection, target, relayed, ports);
}

/** @throws BudgetError for callers with a budget: the usage of a batch is not known before its end */
async function assertUncounted({ userId, token }: ApiPrincipal, { module }: BatchPorts): Promise<void> {
  const { policy, teamPolicy } = module.apiTokens ?? {};
  const limited = token === undefined ? undefined : await policy?.find(token.id);
  const { day, month } = limited?.budgets ?? {};
  const limits = [
    await module.budgetPolicy.limitsOf(userId),
    limited?.team === undefined ? undefined : await teamPolicy?.limitsOf(limited.team),
    day,
    month,
    limited?.rateLimits,
  ];
  if (limits.some((limit) => limit !== undefined))
    throw new BudgetError(
      'You have a budget or a rate limit, which the requests of a batch are not counted against. Send them singly.',
    );
}

interface BatchedRequest {
  readonly row: ProviderRow;
  /** Where the request is, for errors. */
  readonly path: string;
}

/** @returns the request with the vendor's own name of its model */
function checkModel(
  principal: ApiPrincipal,
  request: unknown,
  { row: { id, allowedModels }, path }: BatchedRequest,
  { models }: Pick<BatchPorts, 'models'>,
): JsonObject {
  if (!isObject(request)) throw new HttpError(400, `The batch has no request in ${path}.`, { path });
  const { model: given } = request;
  const model = typeof given === 'string' && given.startsWith(`${id}/`) ? given.slice(id.length + 1) : given;
  if (allowedModels !== undefined && (typeof model !== 'string' || !allowedModels.includes(model)))
    throw new LLMModelNotFoundError(
      `The provider '${id}' has no model '${String(model)}' (${path}); it has ${allowedModels.join(', ')}.`,
      { path },
    );
  const named = typeof given === 'string' ? given : undefined;
  models.assertPermitted(principal, named, { providerId: id, ...(typeof model === 'string' ? { model } : {}) });
  for (const field of CONTINUING)
    if (request[field] !== undefined && request[field] !== null && !hasScope(principal, 'admin'))
      throw new HttpError(400, `Requests of a batch cannot have "${field}" (${path}).`, { path });
  return { ...request, model };
}

/** Fields of the Responses API that continue what others may have created. */
const CONTINUING = ['previous_response_id', 'conversation'];
