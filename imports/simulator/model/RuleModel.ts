/**
 * A small model made of rules: it calls the offered tools that a text asks for and tells what they gave. It says
 * that it is simulated.
 */
import { toolsAskedFor } from './chooseTools';
import { isAcknowledgement } from './Conversation';
import type { Conversation, OfferedTool, Turn } from './Conversation';
import { exampleOf } from './exampleOf';
import { findingsIn } from './findings';
import type { Findings } from './findings';
import { tokensIn } from './ModelTurn';
import type { ModelCall, ModelTurn } from './ModelTurn';

/** Whoever answers a conversation that has no script. */
export interface RuleModel {
  answer(conversation: Conversation): ModelTurn;
}

export const ruleModel: RuleModel = { answer };

type Result = Extract<Turn, { type: 'result' }>;

function answer(conversation: Conversation): ModelTurn {
  const question = lastUserText(conversation);
  const arrived = lateResult(conversation, question);
  const results = freshResults(conversation);
  const calls = arrived === undefined && results.length === 0 ? callsFor(conversation, question) : [];
  const turn: ModelTurn =
    calls.length > 0
      ? { calls, ending: 'complete' }
      : { calls, text: textFor(conversation, question, results, arrived), ending: 'complete' };
  return within(
    conversation.maxOutputTokens,
    conversation.wantsReasoning ? { reasoning: thoughts(question, turn), ...turn } : turn,
  );
}

function lastUserText({ turns }: Conversation): string {
  return turns.findLast((turn) => turn.type === 'user')?.text ?? '';
}

/** The results that the model hasn't spoken about yet. */
function freshResults({ turns }: Conversation): readonly Result[] {
  const spoken = turns.findLastIndex((turn) => turn.type === 'user' || turn.type === 'assistant');
  return turns.slice(spoken + 1).filter((turn) => turn.type === 'result');
}

/**
 * A user message that brings the result of a call which was only acknowledged: it has the call's id or, since some
 * wires have none, the tool's name in data instead of a person's words.
 */
function lateResult({ turns }: Conversation, question: string): Result | undefined {
  const isData = /^\s*[<{[]/.test(question);
  return turns
    .filter((turn) => turn.type === 'result')
    .find(
      (result) =>
        isAcknowledgement(result) && (question.includes(result.callId) || (isData && question.includes(result.name))),
    );
}

function callsFor(conversation: Conversation, question: string): readonly ModelCall[] {
  const { mode, names } = conversation.toolDemand;
  if (mode === 'none') return [];
  const allowed =
    names === undefined ? conversation.tools : conversation.tools.filter((tool) => names.includes(tool.name));
  const asked = toolsAskedFor(question, allowed);
  const chosen = asked.length > 0 || mode === 'auto' ? asked : allowed.slice(0, 1);
  const findings = findingsIn(question);
  const calls = chosen.flatMap((tool) => callsOf(tool, findings));
  return conversation.parallelCalls ? calls : calls.slice(0, 1);
}

/** One call, or one for each place where the tool asks for a place and the text names several. */
function callsOf(tool: OfferedTool, findings: Findings): readonly ModelCall[] {
  const places = asksForOnePlace(tool) ? findings.places.filter((place) => !place.used).length : 1;
  return Array.from({ length: Math.max(1, places) }, () => ({
    name: tool.name,
    arguments: JSON.stringify(exampleOf(tool.parameters, findings, { optional: false })),
    ...(tool.async ? { async: true } : {}),
  }));
}

function asksForOnePlace(tool: OfferedTool): boolean {
  const { properties } = tool.parameters;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return names.filter((name) => /city|place|location|country|town/i.test(name)).length === 1;
}

function textFor(
  conversation: Conversation,
  question: string,
  results: readonly Result[],
  arrived: Result | undefined,
): string {
  const schema = wantedSchemaOf(conversation);
  if (schema !== undefined) return structuredAnswer(schema, question, results);
  if (arrived !== undefined)
    return `The result of ${arrived.name} has arrived: ${quote(dataIn(question))} (Simulated answer.)`;
  if (results.length > 0) return results.map(sentenceAbout).concat('(Simulated answer.)').join(' ');
  return plainAnswer(conversation, question);
}

/** Hosts that cannot be held to a schema are told it in words. */
function wantedSchemaOf({ wantedSchema, instructions }: Conversation): Conversation['wantedSchema'] {
  if (wantedSchema !== undefined && Object.keys(wantedSchema).length > 0) return wantedSchema;
  const told = /\bJSON Schema:\n(\{.*\})/.exec(instructions)?.[1];
  return told !== undefined && isJson(told) ? (JSON.parse(told) as Conversation['wantedSchema']) : wantedSchema;
}

function structuredAnswer(
  schema: Conversation['wantedSchema'] & object,
  question: string,
  results: readonly Result[],
): string {
  const known = [question, ...results.map((result) => result.text)].join('\n');
  const example = exampleOf({ type: 'object', ...schema }, findingsIn(known), { optional: true });
  return JSON.stringify(example);
}

function sentenceAbout(result: Result): string {
  if (isAcknowledgement(result)) return `${result.name} is still at work; I wait for its result and don't guess it.`;
  return result.failed ? `${result.name} failed: ${quote(result.text)}` : `${result.name} says: ${quote(result.text)}`;
}

function plainAnswer({ vendor, model, tools }: Conversation, question: string): string {
  const asked = question === '' ? 'There was no question.' : `You wrote: ${quote(question)}`;
  const offered =
    tools.length === 0 ? '' : ` None of the ${tools.length} tools that were offered seems to be needed for that.`;
  return `This is a simulated answer: no real model was asked, a local simulator of ${vendor} speaks for ${model}. ${asked}${offered}`;
}

function thoughts(question: string, turn: ModelTurn): string {
  const plan =
    turn.calls.length > 0
      ? `I call ${turn.calls.map((call) => call.name).join(' and ')}.`
      : 'I can answer that directly.';
  return `The user says ${quote(question)} ${plan}`;
}

/** The lines of a message that are JSON, or all of it. */
function dataIn(text: string): string {
  const lines = text.split('\n').filter(isJson);
  return lines.length === 0 ? text : lines.join(' ');
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

const QUOTE_LIMIT = 240;

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return `“${characters.length > QUOTE_LIMIT ? `${characters.slice(0, QUOTE_LIMIT).join('')}…` : line}”.`;
}

/** The turn as far as its tokens reach: reasoning counts first, a call that doesn't fit is dropped, a text is cut. */
function within(limit: number | undefined, turn: ModelTurn): ModelTurn {
  if (limit === undefined) return turn;
  const left = limit - tokensIn(turn.reasoning ?? '');
  if (tokensIn([turn.text ?? '', ...turn.calls.map((call) => call.name + call.arguments)].join('')) <= left)
    return turn;
  const reasoning = turn.reasoning === undefined ? {} : { reasoning: turn.reasoning.slice(0, limit * 4) };
  return {
    ...reasoning,
    text: (turn.text ?? '').slice(0, Math.max(0, left) * 4),
    calls: [],
    ending: 'max_output_tokens',
  };
}
