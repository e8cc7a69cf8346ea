/**
 * A small rule-based model: it calls the offered tools that a text asks for and reports their results. It states that
 * it is simulated.
 */
import { isObject, readJson } from '../../business/ai/domain/util/json';
import { chooseTools } from './chooseTools';
import { isAcknowledgement } from './Conversation';
import type { Conversation, ToolDefinition, Turn } from './Conversation';
import { buildExample } from './buildExample';
import { extractValues } from './extractValues';
import type { ExtractedValues } from './extractValues';
import { estimateTokens } from './ModelTurn';
import type { ModelCall, ModelTurn } from './ModelTurn';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

/** Generates the turns of conversations without a script. */
export interface RuleModel {
  respond(conversation: Conversation): ModelTurn;
  /** What a compaction has of a conversation. Default: the beginnings of its turns. */
  summarize?(conversation: Conversation): string;
}

export const ruleModel: RuleModel = { respond };

type Result = Extract<Turn, { type: 'result' }>;

function respond(conversation: Conversation): ModelTurn {
  const question = lastUserText(conversation);
  const lateResult = findLateResult(conversation, question);
  const results = freshResults(conversation);
  const calls = lateResult === undefined && results.length === 0 ? callsFor(conversation, question) : [];
  const turn: ModelTurn =
    calls.length > 0
      ? { calls, ending: 'complete' }
      : { calls, text: textFor(conversation, question, results, lateResult), ending: 'complete' };
  return limitTokens(
    conversation.maxOutputTokens,
    conversation.wantsReasoning ? { reasoning: reasoningFor(question, turn), ...turn } : turn,
  );
}

function lastUserText({ turns }: Conversation): string {
  return turns.findLast((turn) => turn.type === 'user')?.text ?? '';
}

/** The results that the model has not reported yet. */
function freshResults({ turns }: Conversation): readonly Result[] {
  const lastMessage = turns.findLastIndex((turn) => turn.type === 'user' || turn.type === 'assistant');
  return turns.slice(lastMessage + 1).filter((turn) => turn.type === 'result');
}

/**
 * The acknowledged call whose actual result the user message carries: the message contains the call's id or, since
 * some wires have none, it is data that contains the tool's name.
 */
function findLateResult({ turns }: Conversation, question: string): Result | undefined {
  const isData = /^\s*[<{[]/.test(question);
  return turns
    .filter((turn) => turn.type === 'result')
    .find(
      (result) =>
        isAcknowledgement(result) && (question.includes(result.callId) || (isData && question.includes(result.name))),
    );
}

function callsFor(conversation: Conversation, question: string): readonly ModelCall[] {
  const { mode, names } = conversation.toolChoice;
  if (mode === 'none') return [];
  const allowed =
    names === undefined ? conversation.tools : conversation.tools.filter((tool) => names.includes(tool.name));
  if (allowed.length === 0) return [];
  const requested = chooseTools(question, allowed);
  const chosen = requested.length > 0 || mode === 'auto' ? requested : allowed.slice(0, 1);
  const values = extractValues(question);
  const calls = chosen.flatMap((tool) => callsOf(tool, values));
  return conversation.allowsParallelCalls ? calls : calls.slice(0, 1);
}

/** One call, or one per place if the tool takes a place and the text names several. */
function callsOf(tool: ToolDefinition, values: ExtractedValues): readonly ModelCall[] {
  const places = takesOnePlace(tool) ? values.places.filter((place) => !place.used).length : 1;
  return Array.from({ length: Math.max(1, places) }, () => ({
    name: tool.name,
    ...omitUndefined({ namespace: tool.namespace }),
    arguments: JSON.stringify(buildExample(tool.parameters, values, { optional: false })),
    ...(tool.async ? { async: true } : {}),
  }));
}

function takesOnePlace(tool: ToolDefinition): boolean {
  const { properties } = tool.parameters;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return names.filter((name) => /city|place|location|country|town/i.test(name)).length === 1;
}

function textFor(
  conversation: Conversation,
  question: string,
  results: readonly Result[],
  lateResult: Result | undefined,
): string {
  const schema = outputSchemaOf(conversation);
  if (schema !== undefined) return structuredResponse(schema, question, results);
  if (lateResult !== undefined)
    return `The result of ${lateResult.name} has arrived: ${quote(dataIn(question))} (Simulated response.)`;
  if (results.length > 0) return results.map(sentenceAbout).concat('(Simulated response.)').join(' ');
  return plainResponse(conversation, question);
}

/** For vendors without structured output, the schema is part of the instructions. */
function outputSchemaOf({ outputSchema, instructions }: Conversation): Conversation['outputSchema'] {
  if (outputSchema !== undefined && Object.keys(outputSchema).length > 0) return outputSchema;
  const inText = readJson(/\bJSON Schema:\n(\{.*\})/.exec(instructions)?.[1] ?? '');
  return isObject(inText) ? inText : outputSchema;
}

function structuredResponse(
  schema: Conversation['outputSchema'] & object,
  question: string,
  results: readonly Result[],
): string {
  const source = [question, ...results.map((result) => result.text)].join('\n');
  const example = buildExample({ type: 'object', ...schema }, extractValues(source), { optional: true });
  return JSON.stringify(example);
}

function sentenceAbout(result: Result): string {
  if (isAcknowledgement(result))
    return `${result.name} is still running; I will wait for its result instead of guessing it.`;
  return result.failed
    ? `${result.name} failed: ${quote(result.text)}`
    : `${result.name} returned: ${quote(result.text)}`;
}

function plainResponse({ vendor, model, tools }: Conversation, question: string): string {
  const prompt = question === '' ? 'The prompt was empty.' : `You wrote: ${quote(question)}`;
  const offered = tools.length === 0 ? '' : ` None of the ${tools.length} tools offered seems to be needed for that.`;
  return `This is a simulated response: no real model was called, a local simulator of ${vendor} stands in for ${model}. ${prompt}${offered}`;
}

function reasoningFor(question: string, turn: ModelTurn): string {
  const plan =
    turn.calls.length > 0
      ? `I will call ${turn.calls.map((call) => call.name).join(' and ')}.`
      : 'I can respond directly.';
  return `The user wrote ${quote(question)} ${plan}`;
}

/** The lines of a message that are JSON, or else the entire message. */
function dataIn(text: string): string {
  const lines = text.split('\n').filter((line) => readJson(line) !== undefined);
  return lines.length === 0 ? text : lines.join(' ');
}

const QUOTE_LIMIT = 240;

function quote(text: string): string {
  const whole = text.trim();
  // A message may have megabytes, so only its beginning is looked at.
  const beginning = whole.slice(0, 100 * QUOTE_LIMIT);
  const line = beginning.replace(/\s+/g, ' ');
  const characters = Array.from(line);
  const isCut = characters.length > QUOTE_LIMIT || beginning.length < whole.length;
  return `“${isCut ? `${characters.slice(0, QUOTE_LIMIT).join('')}…` : line}”.`;
}

/** Limits the turn's tokens: reasoning counts first, calls that don't fit are dropped, and the text is cut. */
function limitTokens(limit: number | undefined, turn: ModelTurn): ModelTurn {
  if (limit === undefined) return turn;
  const left = limit - estimateTokens(turn.reasoning ?? '');
  if (estimateTokens([turn.text ?? '', ...turn.calls.map((call) => call.name + call.arguments)].join('')) <= left)
    return turn;
  const reasoning = turn.reasoning === undefined ? {} : { reasoning: turn.reasoning.slice(0, limit * 4) };
  return {
    ...reasoning,
    text: (turn.text ?? '').slice(0, Math.max(0, left) * 4),
    calls: [],
    ending: 'max_output_tokens',
  };
}
