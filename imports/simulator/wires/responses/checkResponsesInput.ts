/**
 * The rules of the Responses wire for an input that is valid according to its schema, together with the stored chain
 * before it.
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { vendorProfile } from '../../vendorProfiles';
import { asObject } from '../../json';
import { readSignedToken } from '../../signatures';
import { firstRejection, reject } from '../../validation/Rejection';
import type { Rejection, Rule } from '../../validation/Rejection';
import type { WireRequest } from '../WireSimulator';
import { checkResponsesOptions } from './checkResponsesOptions';
import type { ResponseArchive } from './ResponseArchive';
import { asyncTools, inputItems, isCall, isOutput, responsesBody, typeOf } from './responsesBody';
import type { Item, ResponsesBody } from './responsesBody';
import { ENCRYPTED_CONTENT_PREFIX } from './writeResponses';

interface Transcript {
  readonly vendor: VendorName;
  readonly archive: ResponseArchive;
  readonly body: ResponsesBody;
  readonly input: readonly Item[];
  /** The stored items of the chain, then the input. */
  readonly items: readonly Item[];
}

const PAIRING_RULES: readonly Rule<Transcript>[] = [
  rejectInvalidItemIds,
  rejectDuplicateItems,
  rejectDuplicateCallIds,
  rejectDanglingReasoning,
  rejectItemsWithoutReasoning,
  rejectOrphanedOutputs,
  rejectUnansweredCalls,
];

export function checkResponsesInput(request: WireRequest): Rejection | undefined {
  const transcript = transcriptOf(request);
  const rules = vendorProfile(request.vendor).requiresPairedCalls ? PAIRING_RULES : [];
  return (
    rejectUnknownPreviousResponse(transcript) ??
    firstRejection(rules, transcript) ??
    checkResponsesOptions(request, transcript.body)
  );
}

/**
 * Encrypted reasoning must be issued by this vendor. Separate from the other rules, because traffic that was recorded
 * at the real vendor is exempt.
 */
export function checkReasoningSignatures(request: WireRequest): Rejection | undefined {
  return firstRejection([rejectUnstoredItems, rejectInvalidEncryptedContent], transcriptOf(request));
}

function transcriptOf({ vendor, archive, body: raw }: WireRequest): Transcript {
  const body = responsesBody(raw);
  const input = inputItems(body);
  // The cast is safe: the archived items went through this wire.
  const before = archive.before(vendor, body) as readonly Item[];
  // A referenced call is a call; no rule is known for the other items that a reference may stand for.
  const named = input.map((item) => {
    const { id: _, ...referenced } = archive.resolve(vendor, item);
    return item.type === 'item_reference' && isCall(referenced) ? referenced : item;
  });
  return { vendor, archive, body, input, items: [...before, ...named] };
}

/** 400, not 404: github.com/maximhq/bifrost/issues/2441. */
function rejectUnknownPreviousResponse({
  vendor,
  archive,
  body: { previous_response_id: id },
}: Transcript): Rejection | undefined {
  if (id === undefined || id === null || archive.get(vendor, id) !== undefined) return undefined;
  return reject(`Previous response with id '${id}' not found.`, {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  });
}

const PREFIXES: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', reasoning: 'rs' };

/** Item ids start with the prefix of their type ("Expected an ID that begins with 'fc'"). */
function rejectInvalidItemIds({ input }: Transcript): Rejection | undefined {
  for (const [index, item] of input.entries()) {
    const prefix = PREFIXES[typeOf(item)];
    if (
      prefix === undefined ||
      typeof item.id !== 'string' ||
      item.id.startsWith(prefix) ||
      (item.type === undefined && item.role !== 'assistant')
    )
      continue;
    const param = `input[${index}].id`;
    return reject(`Invalid '${param}': '${item.id}'. Expected an ID that begins with '${prefix}'.`, {
      param,
      code: 'invalid_value',
    });
  }
  return undefined;
}

/** github.com/vercel/ai/issues/13307 */
function rejectDuplicateItems({ items }: Transcript): Rejection | undefined {
  const ids = items.flatMap((item) => (typeof item.id === 'string' && item.type !== 'item_reference' ? [item.id] : []));
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  return twice === undefined
    ? undefined
    : reject(`Duplicate item found with id ${twice}. Remove duplicate items from your input and try again.`, {
        param: 'input',
      });
}

/**
 * Each call id has one call and, unless it is asynchronous, one output
 * (github.com/earendil-works/pi/issues/9057).
 */
function rejectDuplicateCallIds(transcript: Transcript): Rejection | undefined {
  const asyncIds = asyncCallIds(transcript);
  for (const matches of [isCall, isOutput]) {
    const ids = transcript.items.filter(matches).map((item) => item.call_id ?? '');
    const twice = ids.find((id, index) => ids.indexOf(id) !== index && !(matches === isOutput && asyncIds.has(id)));
    if (twice !== undefined) return reject(`Duplicate 'call_id': ${twice}`, { param: 'input' });
  }
  return undefined;
}

/**
 * Reasoning must be followed by an item of the model. If the server stores items, reasoning with an id requires a
 * following item with an id (openai-resp-err400-ctx-a); without ids, both are accepted (azure-resp-reasoning-enc-a).
 */
function rejectDanglingReasoning({ items, body }: Transcript): Rejection | undefined {
  const index = items.findIndex((item, at) => {
    const next = items[at + 1];
    return (
      item.type === 'reasoning' &&
      (!isFromModel(next) || (body.store !== false && typeof item.id === 'string' && typeof next.id !== 'string'))
    );
  });
  if (index < 0) return undefined;
  return reject(
    `Item '${items[index]?.id ?? `input[${index}]`}' of type 'reasoning' was provided without its required following item.`,
    {
      param: 'input',
    },
  );
}

function isFromModel(item: Item | undefined): item is Item {
  if (item === undefined || isOutput(item)) return false;
  return typeOf(item) !== 'message' || item.role === 'assistant';
}

/**
 * An item that is sent with its id requires the reasoning before it
 * (github.com/continuedev/continue/issues/10018).
 */
function rejectItemsWithoutReasoning({ vendor, archive, items }: Transcript): Rejection | undefined {
  const present = new Set(items.map((item) => item.id));
  for (const item of items) {
    const reasoning = archive.reasoningBefore(vendor, item.id ?? '');
    if (reasoning === undefined || reasoning === '' || present.has(reasoning)) continue;
    return reject(
      `Item '${item.id ?? ''}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${reasoning}'.`,
      {
        param: 'input',
      },
    );
  }
  return undefined;
}

/** github.com/continuedev/continue/issues/10092 */
function rejectOrphanedOutputs({ items }: Transcript): Rejection | undefined {
  const called = new Set<string | undefined>();
  for (const item of items) {
    if (isCall(item) || item.type === 'tool_search_call') called.add(item.call_id);
    if (isOutput(item) && !called.has(item.call_id))
      return reject(`No tool call found for function call output with call_id ${item.call_id ?? ''}.`, {
        param: 'input',
      });
  }
  return undefined;
}

/**
 * Every call needs an output somewhere after it (github.com/symgraph/GhidrAssist/issues/78), unless its tool is
 * asynchronous, or xAI's own (https://docs.x.ai/docs/guides/tools/overview).
 */
function rejectUnansweredCalls(transcript: Transcript): Rejection | undefined {
  const answered = new Set(transcript.items.filter(isOutput).map((item) => item.call_id));
  const asyncIds = asyncCallIds(transcript);
  const open = transcript.items.find(
    (item) =>
      isCall(item) &&
      !answered.has(item.call_id) &&
      !asyncIds.has(item.call_id ?? '') &&
      !(transcript.vendor === 'grok' && item.call_id?.startsWith('xs_call') === true),
  );
  return open === undefined
    ? undefined
    : reject(`No tool output found for function call ${open.call_id ?? ''}.`, { param: 'input' });
}

function asyncCallIds({ items, body }: Transcript): ReadonlySet<string> {
  const tools = asyncTools(body);
  return new Set(
    items
      .filter((item) => isCall(item) && (item.async === true || tools.has(item.name ?? '')))
      .map((item) => item.call_id ?? ''),
  );
}

/**
 * Reasoning without encrypted content must be stored on the server ("Items are not persisted when `store` is set to
 * false"), and so must the items of references.
 */
function rejectUnstoredItems({ vendor, archive, input }: Transcript): Rejection | undefined {
  if (!vendorProfile(vendor).requiresPairedCalls) return undefined;
  const lost = input.find((item) => {
    const needed =
      item.type === 'item_reference' ||
      (item.type === 'reasoning' && typeof item.encrypted_content !== 'string' && typeof item.id === 'string');
    return needed && !archive.hasItem(vendor, item.id ?? '');
  });
  if (lost === undefined) return undefined;
  const sentence =
    'Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.';
  return reject(`Item with id '${lost.id ?? ''}' not found. ${sentence}`, { status: 404, param: 'input' });
}

/** github.com/openai/codex/issues/8145 */
function rejectInvalidEncryptedContent({ vendor, input }: Transcript): Rejection | undefined {
  for (const item of input) {
    if ((item.type !== 'reasoning' && item.type !== 'compaction') || typeof item.encrypted_content !== 'string')
      continue;
    const token = item.encrypted_content.startsWith(ENCRYPTED_CONTENT_PREFIX)
      ? item.encrypted_content.slice(ENCRYPTED_CONTENT_PREFIX.length)
      : item.encrypted_content;
    const opened = readSignedToken(vendor, token);
    const reason =
      opened === undefined
        ? 'Encrypted content could not be decrypted or parsed.'
        : typeof item.id === 'string' && asObject(opened).id !== item.id
          ? 'Encrypted content item_id did not match the target item id.'
          : undefined;
    if (reason === undefined) continue;
    const shown = `${item.encrypted_content.slice(0, 4)}...${item.encrypted_content.slice(-4)}`;
    return reject(`The encrypted content ${shown} could not be verified. Reason: ${reason}`, {
      code: 'invalid_encrypted_content',
    });
  }
  return undefined;
}
