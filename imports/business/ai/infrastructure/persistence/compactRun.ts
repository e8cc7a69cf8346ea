/**
 * What stays of a run that ended a while ago: the question, the answer, and the beginnings of what its tools were
 * told and said.
 */
import { textOfContent } from '../../domain/entities/Content';
import type { Item, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import { fromCallDocument, toCallFields } from './runs/runDocuments';
import type { RunDocument, ToolCallDocument } from './runs/runDocuments';

/** Characters that stay of a question, and of a call's arguments and result. */
const QUESTION = 4_096;
const CALL = 256;

export type CompactedFields = Pick<RunDocument, 'input' | 'transcript' | 'turnStart' | 'response'>;

export function compactRun(run: Pick<RunDocument, 'input' | 'response'>): CompactedFields {
  // The store wrote them.
  const question = (JSON.parse(run.input) as readonly Item[]).findLast(
    (item) => item.type === 'message' && item.role === 'user',
  );
  const response = run.response === undefined ? undefined : (JSON.parse(run.response) as LLMResponse);
  const asked = question === undefined ? [] : [shortened(question, QUESTION)];
  // Reasoning, calls and what vendors sealed are of use only to a run that goes on.
  const said = (response?.output ?? []).filter(({ type }) => type === 'message');
  return {
    input: JSON.stringify(asked),
    transcript: JSON.stringify([...asked, ...said]),
    turnStart: asked.length,
    ...(response === undefined ? {} : { response: JSON.stringify({ ...response, output: said }) }),
  };
}

export function compactCall(document: ToolCallDocument): Omit<ToolCallDocument, '_id' | 'fence'> {
  const call = fromCallDocument(document);
  const { lateResult: _late, ...kept } = { lateResult: undefined, ...call };
  const short = {
    ...kept,
    arguments: cut(call.arguments, CALL),
    ...('result' in call ? { result: cut(call.result, CALL) } : {}),
  };
  // The same state with shorter texts, and without what came too late.
  return toCallFields(document.executionId, document.userId, short);
}

function shortened(item: Item, characters: number): Item {
  if (item.type !== 'message') return item;
  return {
    type: 'message',
    role: item.role,
    content: [{ type: 'input_text', text: cut(textOfContent(item.content), characters) }],
  };
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters).toWellFormed()}…`;
}
