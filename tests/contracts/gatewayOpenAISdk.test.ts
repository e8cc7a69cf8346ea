/** Every method of OpenAI's SDK that the gateway serves, with every vendor behind it. */
import { OPENAI_CHAT_CASES } from '../support/sdks/openaiChatCases';
import { OPENAI_BETA_CASES, OPENAI_ITEMS_CASES, OPENAI_MODELS_CASES } from '../support/sdks/openaiBetaCases';
import { OPENAI_RESPONSES_CASES, OPENAI_SOCKET_CASES } from '../support/sdks/openaiResponsesCases';
import { describeSdk } from '../support/sdks/SdkCase';

describeSdk('OpenAI’s SDK, chat completions', OPENAI_CHAT_CASES);
describeSdk('OpenAI’s SDK, responses', OPENAI_RESPONSES_CASES);
describeSdk('OpenAI’s SDK, responses over its WebSocket', OPENAI_SOCKET_CASES);
describeSdk('OpenAI’s SDK, beta responses', OPENAI_BETA_CASES);
describeSdk('OpenAI’s SDK, input items', OPENAI_ITEMS_CASES);
describeSdk('OpenAI’s SDK, models', OPENAI_MODELS_CASES);
