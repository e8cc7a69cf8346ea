/** The Responses wire as one value: both conversions and the stream decoder. */
import { ResponsesDecoder } from './stream/ResponsesDecoder';
import { fromResponses, toResponses } from './ResponsesConverter';
import type { Wire } from '../Wire';

export const responsesWire: Wire = {
  name: 'responses',
  toRequest: toResponses,
  fromResponse: fromResponses,
  createDecoder: (context) => new ResponsesDecoder(context),
  fetchesUrl: (part, quirks) => part.type === 'input_file' || quirks.fetchesImageUrls,
};
