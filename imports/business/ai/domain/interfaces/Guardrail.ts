/** Checks model calls: denies them, changes what is sent and received, or annotates them. */
import type {
  FilteredText,
  GuardedRequest,
  GuardrailContext,
  GuardrailVerdict,
  TextFilter,
} from '../types/GuardrailTypes';
import type { LLMResponse } from '../types/ResponsesAPITypes';

export type { FilteredText, GuardedRequest, GuardrailContext, GuardrailVerdict, TextFilter };

type Decided<T> = T | undefined | Promise<T | undefined>;

export interface Guardrail {
  readonly name: string;
  /** To be changed when the guardrail decides differently: responses cached under another version are not used. */
  readonly version?: string;
  /** What happens to a call if a hook throws or takes too long. Default: `deny`. */
  readonly onError?: 'deny' | 'allow';
  /** Milliseconds that a hook may take. Default: 5,000. */
  readonly timeout?: number;
  /** Checks a request before it is sent. */
  before?(request: GuardedRequest, context: GuardrailContext): Decided<GuardrailVerdict<Partial<GuardedRequest>>>;
  /**
   * Returns a filter for one text of a response: of a message, a refusal, reasoning, or a value in a tool call's
   * arguments. Texts of responses that are not streamed arrive in one piece.
   */
  during?(context: GuardrailContext): TextFilter;
  /** Checks a complete response. What was streamed already cannot be changed, unless `holdsStream` is set. */
  after?(response: LLMResponse, context: GuardrailContext): Decided<GuardrailVerdict<LLMResponse>>;
  /** Sends streams only once `after` has decided. Default: false. */
  readonly holdsStream?: boolean;
}
