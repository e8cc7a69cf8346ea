/** Every method of Anthropic's SDK that the gateway serves, with every vendor behind it. */
import { ANTHROPIC_BETA_CASES, ANTHROPIC_MESSAGES_CASES, ANTHROPIC_MODELS_CASES } from '../support/sdks/anthropicCases';
import { describeSdk } from '../support/sdks/SdkCase';

describeSdk('Anthropic’s SDK, messages', ANTHROPIC_MESSAGES_CASES);
describeSdk('Anthropic’s SDK, beta messages', ANTHROPIC_BETA_CASES);
describeSdk('Anthropic’s SDK, models', ANTHROPIC_MODELS_CASES);
