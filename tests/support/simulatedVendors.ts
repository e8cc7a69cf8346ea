/** The variables that set up every vendor on a simulator. */
import type { VendorName } from '../../imports/business/ai/domain/types/VendorTypes';
import type { Simulator } from '../../imports/simulator/Simulator';
import { VENDOR_VARIABLES } from '../../imports/host/settings/vendors';
import type { Environment } from '../../imports/host/settings/environment';

export function simulatedVendors(simulator: Simulator): Environment {
  const ofVendors = (Object.keys(VENDOR_VARIABLES) as VendorName[]).flatMap((vendor) => {
    const names = VENDOR_VARIABLES[vendor];
    return Object.entries({ [names?.key ?? '']: 'simulated', [names?.baseURL ?? '']: simulator.baseURL(vendor) });
  });
  return {
    AI_ALLOW_PRIVATE_HOSTS: '1',
    LLM_PROVIDER: 'openai',
    AZURE_OPENAI_DEPLOYMENT: 'gpt-5.4-mini',
    ...Object.fromEntries(ofVendors),
  };
}
