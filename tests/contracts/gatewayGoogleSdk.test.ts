/** Every method of Google's SDKs that the gateway serves, with every vendor behind it. */
import { GENERATIVE_AI_CASES } from '../support/sdks/generativeAICases';
import { GOOGLE_GENAI_CASES } from '../support/sdks/googleGenAICases';
import { describeSdk } from '../support/sdks/SdkCase';

describeSdk('Google’s SDK @google/genai', GOOGLE_GENAI_CASES);
describeSdk('Google’s SDK @google/generative-ai', GENERATIVE_AI_CASES);
