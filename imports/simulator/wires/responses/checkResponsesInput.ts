/**
 * What Responses hosts refuse in an input that has the right shape, together with what they kept of the chain
 * before it.
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { hostOf } from '../../hosts';
import { asObject } from '../../json';
import { openSeal } from '../../seals';
import { firstRefusal, refuse } from '../../validation/Refusal';
import type { Refusal, Rule } from '../../validation/Refusal';
import type { WireRequest } from '../WireSimulator';
import { checkResponsesOptions } from './checkResponsesOptions';
import type { ResponseArchive } from './ResponseArchive';
import { asyncTools, inputItems, isCall, isOutput, responsesBody, typeOf } from './responsesBody';
import type { Item, ResponsesBody } from './responsesBody';
import { SEAL_MARK } from './writeResponses';

interface Transcript {
  readonly vendor: VendorName;
  readonly archive: ResponseArchive;
  readonly body: ResponsesBody;
  readonly input: readonly Item[];
  /** What the server holds of the chain, then the input. */
  readonly items: readonly Item[];
}

const PAIRING: readonly Rule<Transcript>[] = [
  itemIdsFit,
  itemsAreUnique,
  callIdsAreUnique,
  reasoningIsFollowed,
  itemsKeepTheirReasoning,
  outputsAnswerCalls,
  callsAreAnswered,
];

export function checkResponsesInput(request: WireRequest): Refusal | undefined {
  const transcript = transcriptOf(request);
  const rules = hostOf(request.vendor).pairsCalls ? PAIRING : [];
  return chainExists(transcript) ?? firstRefusal(rules, transcript) ?? checkResponsesOptions(request, transcript.body);
}

/** Sealed reasoning must be this vendor's own. Apart from the other rules, for traffic recorded at the real vendor. */
export function checkReasoningSeals(request: WireRequest): Refusal | undefined {
  return firstRefusal([reasoningIsKept, sealsOpen], transcriptOf(request));
}

function transcriptOf({ vendor, archive, body: raw }: WireRequest): Transcript {
  const body = responsesBody(raw);
  const input = inputItems(body);
  // What the archive keeps went through this wire as items.
  const before = (archive.get(vendor, body.previous_response_id ?? '')?.items ?? []) as readonly Item[];
  return { vendor, archive, body, input, items: [...before, ...input] };
}

/** 400, not 404: github.com/maximhq/bifrost/issues/2441. */
function chainExists({ vendor, archive, body: { previous_response_id: id } }: Transcript): Refusal | undefined {
  if (id === undefined || id === null || archive.get(vendor, id) !== undefined) return undefined;
  return refuse(`Previous response with id '${id}' not found.`, {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  });
}

const PREFIXES: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', reasoning: 'rs' };

/** Ids of items begin with their type's letters ("Expected an ID that begins with 'fc'"). */
function itemIdsFit({ input }: Transcript): Refusal | undefined {
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
    return refuse(`Invalid '${param}': '${item.id}'. Expected an ID that begins with '${prefix}'.`, {
      param,
      code: 'invalid_value',
    });
  }
  return undefined;
}

/** github.com/vercel/ai/issues/13307 */
function itemsAreUnique({ items }: Transcript): Refusal | undefined {
  const ids = items.flatMap((item) => (typeof item.id === 'string' && item.type !== 'item_reference' ? [item.id] : []));
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  return twice === undefined
    ? undefined
    : refuse(`Duplicate item found with id ${twice}. Remove duplicate items from your input and try again.`, {
        param: 'input',
      });
}

/**
 * One call and, unless it runs asynchronously, one output for each call id
 * (github.com/earendil-works/pi/issues/9057).
 */
function callIdsAreUnique(transcript: Transcript): Refusal | undefined {
  const late = asyncCallIds(transcript);
  for (const matches of [isCall, isOutput]) {
    const ids = transcript.items.filter(matches).map((item) => item.call_id ?? '');
    const twice = ids.find((id, index) => ids.indexOf(id) !== index && !(matches === isOutput && late.has(id)));
    if (twice !== undefined) return refuse(`Duplicate 'call_id': ${twice}`, { param: 'input' });
  }
  return undefined;
}

/**
 * Reasoning stands before what it led to. Where the server keeps items, reasoning under its id wants what follows
 * under its own (openai-resp-err400-ctx-a); without ids both are taken as they are (azure-resp-reasoning-enc-a).
 */
function reasoningIsFollowed({ items, body }: Transcript): Refusal | undefined {
  const index = items.findIndex((item, at) => {
    const next = items[at + 1];
    return (
      item.type === 'reasoning' &&
      (!isModelsWork(next) || (body.store !== false && typeof item.id === 'string' && typeof next.id !== 'string'))
    );
  });
  if (index < 0) return undefined;
  return refuse(
    `Item '${items[index]?.id ?? `input[${index}]`}' of type 'reasoning' was provided without its required following item.`,
    {
      param: 'input',
    },
  );
}

function isModelsWork(item: Item | undefined): item is Item {
  if (item === undefined || isOutput(item)) return false;
  return typeOf(item) !== 'message' || item.role === 'assistant';
}

/**
 * An item that is sent under its id brings the reasoning that it followed
 * (github.com/continuedev/continue/issues/10018).
 */
function itemsKeepTheirReasoning({ vendor, archive, items }: Transcript): Refusal | undefined {
  const present = new Set(items.map((item) => item.id));
  for (const item of items) {
    const reasoning = archive.reasoningOf(vendor, item.id ?? '');
    if (reasoning === undefined || reasoning === '' || present.has(reasoning)) continue;
    return refuse(
      `Item '${item.id ?? ''}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${reasoning}'.`,
      {
        param: 'input',
      },
    );
  }
  return undefined;
}

/** github.com/continuedev/continue/issues/10092 */
function outputsAnswerCalls({ items }: Transcript): Refusal | undefined {
  const called = new Set<string | undefined>();
  for (const item of items) {
    if (isCall(item)) called.add(item.call_id);
    if (isOutput(item) && !called.has(item.call_id))
      return refuse(`No tool call found for function call output with call_id ${item.call_id ?? ''}.`, {
        param: 'input',
      });
  }
  return undefined;
}

/**
 * Every call has an output somewhere after it (github.com/symgraph/GhidrAssist/issues/78), unless its tool is
 * asynchronous.
 */
function callsAreAnswered(transcript: Transcript): Refusal | undefined {
  const answered = new Set(transcript.items.filter(isOutput).map((item) => item.call_id));
  const late = asyncCallIds(transcript);
  const open = transcript.items.find(
    (item) => isCall(item) && !answered.has(item.call_id) && !late.has(item.call_id ?? ''),
  );
  return open === undefined
    ? undefined
    : refuse(`No tool output found for function call ${open.call_id ?? ''}.`, { param: 'input' });
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
 * Reasoning without its seal must be on the server ("Items are not persisted when `store` is set to false"), and so
 * must what is referred to.
 */
function reasoningIsKept({ vendor, archive, input }: Transcript): Refusal | undefined {
  if (!hostOf(vendor).pairsCalls) return undefined;
  const lost = input.find((item) => {
    const needed =
      item.type === 'item_reference' ||
      (item.type === 'reasoning' && typeof item.encrypted_content !== 'string' && typeof item.id === 'string');
    return needed && !archive.holdsItem(vendor, item.id ?? '');
  });
  if (lost === undefined) return undefined;
  const sentence =
    'Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.';
  return refuse(`Item with id '${lost.id ?? ''}' not found. ${sentence}`, { status: 404, param: 'input' });
}

/** github.com/openai/codex/issues/8145 */
function sealsOpen({ vendor, input }: Transcript): Refusal | undefined {
  for (const item of input) {
    if ((item.type !== 'reasoning' && item.type !== 'compaction') || typeof item.encrypted_content !== 'string')
      continue;
    const sealed = item.encrypted_content.startsWith(SEAL_MARK)
      ? item.encrypted_content.slice(SEAL_MARK.length)
      : item.encrypted_content;
    const opened = openSeal(vendor, sealed);
    const reason =
      opened === undefined
        ? 'Encrypted content could not be decrypted or parsed.'
        : typeof item.id === 'string' && asObject(opened).id !== item.id
          ? 'Encrypted content item_id did not match the target item id.'
          : undefined;
    if (reason === undefined) continue;
    const shown = `${item.encrypted_content.slice(0, 4)}...${item.encrypted_content.slice(-4)}`;
    return refuse(`The encrypted content ${shown} could not be verified. Reason: ${reason}`, {
      code: 'invalid_encrypted_content',
    });
  }
  return undefined;
}
