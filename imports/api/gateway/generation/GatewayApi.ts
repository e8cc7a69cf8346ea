/** An API that clients speak to us: how its requests read, how its answers are written. */
import type { Request } from 'express';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, WireName } from '../../../business/ai/domain/types/VendorTypes';
import type { StreamFormat } from '../../http/ResponseSink';

/** The Responses API keeps what was said, and numbers the events of its streams; its own relay sees to that. */
export type StatelessWire = Exclude<WireName, 'responses'>;

export interface ClientRequest {
  readonly options: GenerateOptions;
  /** How to stream the answer. Absent: it comes whole. */
  readonly stream?: StreamFormat;
  /** The client asked for token counts in the stream, where its API leaves that to it. */
  readonly includeUsage?: boolean;
}

export interface GatewayApi {
  readonly wire: StatelessWire;
  /** @throws LLMInvalidRequestError with the JSON path of what is wrong */
  read(request: Request): ClientRequest;
  write(response: LLMResponse): JsonObject;
}
