/** Frameworks as clients of the gateway, with every vendor behind it. */
import { AGENTS_CASES, AI_SDK_CASES, LANGCHAIN_CASES } from '../support/sdks/frameworkCases';
import { describeSdk } from '../support/sdks/SdkCase';
import { silenceAISDKWarnings } from '../support/silenceAISDKWarnings';
import { describeInSoak } from '../support/soak';

describeInSoak('Frameworks over the gateway', () => {
  silenceAISDKWarnings();
  describeSdk('The AI SDK', AI_SDK_CASES);
  describeSdk('LangChain', LANGCHAIN_CASES);
  describeSdk('OpenAI’s Agents SDK', AGENTS_CASES);
});
