/** Rules for requests that are valid according to the schema, https://ai.google.dev/gemini-api/docs/interactions. */
import { createSignature } from '../../signatures';
import { firstRejection, reject } from '../../validation/Rejection';
import type { Rejection, Rule } from '../../validation/Rejection';
import type { WireRequest } from '../WireSimulator';
import { interactionsBody, jsonFormat, stepsOf, versionOf } from './interactionsBody';
import type { InteractionsBody, Step } from './interactionsBody';

interface Transcript {
  readonly request: WireRequest;
  readonly body: InteractionsBody;
  readonly steps: readonly Step[];
  /** The steps of the interaction that the request continues. */
  readonly before: readonly Step[];
}

const RULES: readonly Rule<Transcript>[] = [
  rejectUnnamedModel,
  rejectUnknownPrevious,
  rejectMissingInput,
  rejectUnstoredBackground,
  rejectEmptyContents,
  rejectInvalidFunctionNames,
  rejectUnpairedCalls,
  rejectJsonWithFunctions,
];

export function checkInteractions(request: WireRequest): Rejection | undefined {
  const body = interactionsBody(request.body);
  const stored = request.archive.get(request.vendor, body.previous_interaction_id ?? '');
  // The cast is safe: what is archived went through this wire.
  const before = (stored?.items ?? []) as readonly unknown[] as readonly Step[];
  return firstRejection(RULES, { request, body, steps: stepsOf(body), before });
}

/** Signatures must be this vendor's own. */
export function checkThoughts({ vendor, body }: WireRequest): Rejection | undefined {
  const forged = stepsOf(interactionsBody(body)).some(
    ({ type, signature }) => type === 'thought' && signature !== undefined && signature !== thoughtSignature(vendor),
  );
  return forged ? reject('Corrupted thought signature.') : undefined;
}

/** It only proves the vendor: the summary that it belongs to may be missing. */
export function thoughtSignature(vendor: WireRequest['vendor']): string {
  return createSignature(vendor, { thought: true });
}

function rejectUnnamedModel({ body }: Transcript): Rejection | undefined {
  if ((body.model === undefined) !== (body.agent === undefined)) return undefined;
  return reject('Exactly one of `model` and `agent` must be specified.');
}

function rejectUnknownPrevious({ body, request: { archive, vendor } }: Transcript): Rejection | undefined {
  const id = body.previous_interaction_id;
  if (id === undefined || archive.get(vendor, id) !== undefined) return undefined;
  return reject(`Interaction ${id} was not found.`, { status: 404 });
}

function rejectMissingInput({ steps }: Transcript): Rejection | undefined {
  return steps.length === 0 ? reject('`input` is required.') : undefined;
}

function rejectUnstoredBackground({ body }: Transcript): Rejection | undefined {
  if (body.background === true && body.store === false) return reject('`background` requires `store`.');
  if (body.agent?.startsWith('deep-research') === true && body.background !== true)
    return reject(`The agent ${body.agent} requires \`background\`.`);
  return undefined;
}

function rejectEmptyContents({ steps }: Transcript): Rejection | undefined {
  const index = steps.findIndex(
    ({ type, content }) => type === 'user_input' && (content ?? []).every(({ text }) => text === ''),
  );
  return index < 0 ? undefined : reject(`Step ${index} of \`input\` has no content.`);
}

function rejectInvalidFunctionNames({ body }: Transcript): Rejection | undefined {
  const invalid = (body.tools ?? []).find(
    ({ type, name }) => type === 'function' && !/^[a-zA-Z_][\w.:-]{0,63}$/.test(String(name)),
  );
  return invalid === undefined ? undefined : reject(`Invalid function name "${String(invalid.name)}".`);
}

/** Each call has one result, before the model or the user goes on; each result a call. */
function rejectUnpairedCalls({ steps, before }: Transcript): Rejection | undefined {
  let open: string[] = [];
  for (const step of [...before, ...steps]) {
    if (step.type === 'function_call') {
      if (step.id === undefined || open.includes(step.id)) return reject('Function calls need ids of their own.');
      open.push(step.id);
    } else if (step.type === 'function_result') {
      if (!open.includes(step.call_id ?? ''))
        return reject(`The function result for "${step.call_id ?? ''}" has no function call before it.`);
      open = open.filter((id) => id !== step.call_id);
    } else if (open.length > 0 && (step.type === 'user_input' || step.type === 'model_output'))
      return reject(`The function call "${open[0] ?? ''}" has no function result.`);
  }
  return open.length === 0 ? undefined : reject(`The function call "${open[0] ?? ''}" has no function result.`);
}

/** The same models serve this API as the other. */
function rejectJsonWithFunctions({ request: { model }, body }: Transcript): Rejection | undefined {
  const version = versionOf(model);
  const declares = (body.tools ?? []).some(({ type }) => type === 'function');
  if (version === 0 || version >= 3 || !declares || jsonFormat(body) === undefined) return undefined;
  return reject("Function calling with a response mime type: 'application/json' is unsupported");
}
