/** The Responses wire. https://platform.openai.com/docs/api-reference/responses */
import { ResponsesDecoder } from './stream/ResponsesDecoder';
import { responsesFoundTools } from './foundTools';
import { responsesForms } from './nativeTools';
import { fromResponses, responsesSlices } from './ResponsesConverter';
import type { Wire } from '../Wire';

export const responsesWire: Wire = {
  name: 'responses',
  toRequest: responsesSlices,
  fromResponse: fromResponses,
  createDecoder: (context) => new ResponsesDecoder(context),
  nativeForms: responsesForms,
  foundTools: responsesFoundTools,
  fetchesUrl: (part, quirks) => part.type === 'input_file' || quirks.fetchesImageUrls,
};
