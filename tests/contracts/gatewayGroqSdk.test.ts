/** Every method of Groq's SDK that the gateway serves, with every vendor behind it. */
import { GROQ_CASES } from '../support/sdks/groqCases';
import { describeSdk } from '../support/sdks/SdkCase';

describeSdk('Groq’s SDK', GROQ_CASES);
