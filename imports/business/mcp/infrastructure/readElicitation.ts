/** What a server asks of a person, in the form in which the person is shown it. */
import type { InputRequest } from '../../ai/domain/entities/Tool';
import type { InputAnswer } from '../../ai/domain/interfaces/IToolExecutor';
import { isObject } from '../../ai/domain/util/json';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { visibleText } from './visibleText';
import { parseUrl } from '../../ai/domain/util/parseUrl';

export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline';
  readonly content?: Record<string, string | number | boolean | string[]>;
}

export const DECLINED: ElicitationAnswer = { action: 'decline' };

/** Characters. */
const MAX_MESSAGE = 3_500;
const MAX_URL = 2_000;
const MAX_SCHEMA = 64 * 1024;

/**
 * @param params of `elicitation/create`
 * @returns undefined for what cannot be shown: it is declined
 */
export function readElicitation(server: string, params: unknown): Omit<InputRequest, 'id'> | undefined {
  if (!isObject(params) || typeof params.message !== 'string') return undefined;
  // The user must know which server asks, whatever it writes.
  const message = `The MCP server "${server}" asks: ${visibleText(params.message).slice(0, MAX_MESSAGE)}`;
  if (params.mode === 'url') {
    const { url } = params;
    return typeof url === 'string' && isWebAddress(url) ? { message, url } : undefined;
  }
  const { requestedSchema } = params;
  if (!isObject(requestedSchema) || JSON.stringify(requestedSchema).length > MAX_SCHEMA) return undefined;
  const { properties, required } = requestedSchema;
  if (!isObject(properties)) return undefined;
  if (Object.keys(properties).length === 0) return { message };
  return {
    message,
    schema: omitUndefined({ type: 'object', properties, required, additionalProperties: false }),
  };
}

export function toElicitationAnswer(answer: InputAnswer, { schema, url }: Omit<InputRequest, 'id'>): ElicitationAnswer {
  if (answer.action !== 'accept') return DECLINED;
  if (url !== undefined) return { action: 'accept' };
  // Boundary: the values were checked against the schema, if there is one.
  const content = (schema === undefined ? {} : answer.values) as NonNullable<ElicitationAnswer['content']>;
  return { action: 'accept', content };
}

function isWebAddress(url: string): boolean {
  const parsed = url.length > MAX_URL ? undefined : parseUrl(url);
  if (parsed === undefined) return false;
  const { protocol, username, password } = parsed;
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}
