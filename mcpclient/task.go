package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// needsTask reports whether a tool must be called as a task: the call returns a
// task ID immediately, with which the result is requested later.
func needsTask(l Tool) bool {
	return l.Execution != nil && l.Execution.TaskSupport == mcp.TaskSupportRequired
}

// callTask calls a tool as a task and waits for its result. It bypasses the
// library's CallTool, which treats the response to such a call as a malformed
// result.
func callTask(ctx context.Context, c *client.Client, id string, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	request.Params.Task = &mcp.TaskParams{}
	response, err := c.GetTransport().SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: string(mcp.MethodToolsCall), Params: request.Params,
	})
	if err != nil {
		return nil, transport.NewError(err)
	}
	if response.Error != nil {
		return nil, response.Error.AsError()
	}
	var created mcp.CreateTaskResult
	if err := json.Unmarshal(response.Result, &created); err != nil || created.Task.TaskId == "" {
		return nil, errors.New("no task ID in the response")
	}
	result, err := c.TaskResult(ctx, mcp.TaskResultRequest{Params: mcp.TaskResultParams{TaskId: created.Task.TaskId}})
	if err != nil {
		cancelTask(ctx, c, created.Task.TaskId)
		return nil, fmt.Errorf("get the result of the task: %w", err)
	}
	return &mcp.CallToolResult{Content: result.Content, StructuredContent: result.StructuredContent, IsError: result.IsError}, nil
}

// cancelTask cancels a task whose caller has stopped waiting.
func cancelTask(ctx context.Context, c *client.Client, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_, _ = c.CancelTask(ctx, mcp.CancelTaskRequest{Params: mcp.CancelTaskParams{TaskId: id}}) // the task may have ended already
}
