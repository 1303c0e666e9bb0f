/** Opens the MCP endpoint. */
import type { Area, AreaDependencies } from '../http/area.ts';
import type { Route } from '../http/route.ts';
import { mcpRoute } from './endpoint.ts';
import { metadataPath, resourceMetadataRoute } from './metadata.ts';
import type { createProtocol } from './protocol.ts';
import { createToolRunner } from './run-tool.ts';

interface Dependencies extends AreaDependencies {
  /** Those that tools run are among them. */
  readonly routes: readonly Route[];
}

export function openMcp({ config, site, clock, version, issuer, routes }: Dependencies): Area {
  if (config.mcp === 'off') {
    return {};
  }
  const { corsOrigins } = config;
  const runTool = createToolRunner(new Map(routes.map((one) => [one.operationId, one])), clock);
  let loading: Promise<ReturnType<typeof createProtocol>> | undefined;

  async function load(): Promise<ReturnType<typeof createProtocol>> {
    const protocol = await import('./protocol.ts');
    return protocol.createProtocol({ runTool, version, site });
  }

  return {
    routes: [
      mcpRoute({
        async respond(request) {
          loading ??= load();
          return (await loading)(request);
        },
        metadataUrl: () => `${issuer()}${metadataPath}`,
        origins: () => [issuer(), ...corsOrigins.filter((origin) => origin !== '*')],
      }),
      resourceMetadataRoute(issuer, site),
    ],
  };
}
