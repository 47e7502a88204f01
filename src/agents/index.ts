export { AGENT_SETTINGS } from './agent-settings.js';
export { agentTools, type AgentTool } from './agent-tool.js';
export { createAgentServer } from './agent-server.js';
export { selectedTools } from './tool-selection.js';
export { toolAnswer, toolError, toolProblem } from './tool-answer.js';
export { toolInput, withAccount, withVersion, type Arguments, type ToolInput } from './tool-input.js';
