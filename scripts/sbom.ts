/** Prints the bill of materials of what Bolide ships, as CycloneDX: `npm run --silent sbom > sbom.cdx.json`. */
import { billOfMaterials } from './package/billOfMaterials';

billOfMaterials().then(
  (document) => process.stdout.write(`${JSON.stringify(document, null, 2)}\n`),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
