/** A vendor-compatible API of the gateway: reads its requests and writes its responses. */
import type { HttpRequest } from '../../http/HttpMessages';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, ServedWire } from '../../../business/ai/domain/types/VendorTypes';
import type { StreamFormat } from '../../http/ResponseSink';

/** The Responses API stores responses and numbers its stream events, so it has routes and a relay of its own. */
export type StatelessWire = Exclude<ServedWire, 'responses'>;

export interface ClientRequest {
  readonly options: GenerateOptions;
  /** The format of the stream. Absent: the response is not streamed. */
  readonly stream?: StreamFormat;
  /** The client requested token counts in the stream, if its API has that option. */
  readonly includeUsage?: boolean;
}

export interface GatewayApi {
  readonly wire: StatelessWire;
  /** @throws LLMInvalidRequestError with the path of the invalid field */
  read(request: HttpRequest): ClientRequest;
  /**
   * Refuses what only a vendor of this API could understand, in a request for another one.
   * @throws LLMInvalidRequestError with the path of the invalid field
   */
  refuse?(request: HttpRequest): void;
  write(response: LLMResponse): JsonObject;
}
