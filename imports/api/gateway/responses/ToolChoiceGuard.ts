/** Enforces `tool_choice`, which Open Responses requires of the server even if the vendor ignores it. */
import { refusalOf, toolCalls } from '../../../business/ai/domain/entities/Response';
import { LLMServerError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/util/json';
import type { ToolChoice } from '../../../business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';

export class ToolChoiceGuard {
  /** Absent: every tool of the request. */
  private readonly allowed: ReadonlySet<string> | undefined;
  private readonly isRequired: boolean;

  constructor(choice: ToolChoice | undefined) {
    this.allowed = allowedNames(choice);
    this.isRequired =
      choice === 'required' ||
      (typeof choice === 'object' &&
        (choice.type === 'function' || (choice.type === 'allowed_tools' && choice.mode === 'required')));
  }

  /** @throws LLMServerError for a call that the request did not allow */
  check(event: ResponseStreamEvent): void {
    if (event.type === 'response.tool_use.announced') this.checkName(event.name);
    else if (event.type === 'response.completed') this.checkResponse(event.response);
  }

  /** Checks an output item in the format of the Responses API. @throws LLMServerError */
  checkItem(item: unknown): void {
    if (isObject(item) && item.type === 'function_call' && typeof item.name === 'string') this.checkName(item.name);
  }

  /** @throws LLMServerError for a call that the request did not allow, and for none where one was required */
  checkResponse(response: LLMResponse): void {
    for (const { name } of toolCalls(response)) this.checkName(name);
    const isExcused = response.status !== 'completed' || refusalOf(response) !== undefined;
    if (this.isRequired && !isExcused && !response.output.some(isAnyCall)) {
      throw new LLMServerError('The model made no tool call, although tool_choice requires one.', {
        retryable: false,
        response,
      });
    }
  }

  private checkName(name: string): void {
    if (this.allowed?.has(name) === false)
      throw new LLMServerError(`The model called "${name}", which tool_choice does not allow.`, { retryable: false });
  }
}

function allowedNames(choice: ToolChoice | undefined): ReadonlySet<string> | undefined {
  if (choice === 'none') return new Set();
  if (typeof choice !== 'object') return undefined;
  if (choice.type === 'function') return new Set([choice.name]);
  if (choice.type !== 'allowed_tools' || !('tools' in choice)) return undefined;
  return new Set(choice.tools.flatMap(({ type, name }) => (type === 'function' && name !== undefined ? [name] : [])));
}

/** Includes calls of hosted tools. */
function isAnyCall({ type }: { readonly type: string }): boolean {
  return type.endsWith('_call');
}
